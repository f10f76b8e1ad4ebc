package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"reprise/rewrite"
)

// where install.sh puts the programs.
const installed = "$HOME/.local/share/reprise/bin"

// packages are the ways to install a release.
var packages = map[string]func(t *testing.T, release string){
	"archive": testArchive, "script": testScript, "one line": testOneLine, "dev container": testDevcontainer, "deb": testDebian, "rpm": testRPM, "npm": testNPM, "pip": testPip, "brew": testBrew,
}

func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, name := range tools {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs " + name)
		}
	}
}

// one returns the name of the file of a release for this machine that matches.
func one(t *testing.T, release, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(release, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return filepath.Base(found[0])
}

func testArchive(t *testing.T, release string) {
	m := newMachine(t, release)
	m.sh("mkdir $root/opt; cd $root/opt; gzip -dc $root/release/" + one(t, release, "*-linux-"+runtime.GOARCH+".tar.gz") + " | tar xf -; mv reprise-* reprise")
	m.try("$root/opt/reprise/bin")
	m.sh("cd $root/opt/reprise; ls LICENSE THIRD-PARTY-LICENSES README.md CHANGELOG.md sbom.cdx.json completions/_shimctl man/man1/shimctl-status.1")
	m.sh("sh $root/opt/reprise/install.sh")
	m.try(installed)
	m.sh("sh $root/opt/reprise/install.sh --uninstall --purge; rm -r $root/opt")
	m.removed()
}

func testScript(t *testing.T, release string) {
	m := newMachine(t, release)
	server := httptest.NewServer(http.FileServer(http.Dir(release)))
	defer server.Close()
	for _, from := range []string{"", "--from $root/release", "--from " + server.URL} {
		if said := m.sh("$root/release/install.sh " + from); !strings.Contains(said, "version v1.2.3, linked: static\n") {
			t.Errorf("install.sh %s says %s", from, said)
		}
	}
	m.try(installed)
	m.sh("$root/release/install.sh --uninstall --purge")
	m.removed()
}

// testOneLine installs in one line, from a server, where there is nothing but wget, and plays the demo. Of an archive in which a byte is
// changed nothing is installed.
func testOneLine(t *testing.T, release string) {
	m := newMachine(t, release)
	served := t.TempDir()
	shell(t, release, "cp * "+served)
	server := httptest.NewServer(http.FileServer(http.Dir(served)))
	defer server.Close()
	download := "wget -qO-"
	if !m.jailed {
		download = "curl -fsSL"
	}
	line := download + " $from/install.sh | sh -s -- --from $from --demo"
	said := m.sh("from=" + server.URL + "; " + line)
	for _, want := range []string{"its checksum is right\n", "its signature was not checked: ", "version v1.2.3, linked: static\n", "tokens"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
	m.try(installed)
	m.sh("$root/release/install.sh --uninstall --purge")

	shell(t, served, "printf x | dd of="+one(t, served, "*-linux-"+runtime.GOARCH+".tar.gz")+" bs=1 seek=100000 conv=notrunc status=none")
	out, err := m.command("from=" + server.URL + "; " + line).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "does not have the checksum that SHA256SUMS lists\n") {
		t.Errorf("a changed archive: %v, %s", err, out)
	}
	m.removed()
}

// testDevcontainer runs what a dev container's build runs of the feature, in a root of its own.
func testDevcontainer(t *testing.T, release string) {
	m := newMachine(t, release)
	if !m.jailed {
		t.Skip("needs a root of its own")
	}
	script, err := filepath.Abs("../../packaging/devcontainer/reprise/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	shell(t, m.root, "cp "+script+" feature.sh")
	m.before = m.list()
	server := httptest.NewServer(http.FileServer(http.Dir(release)))
	defer server.Close()
	m.sh("FROM=" + server.URL + " VERSION=latest TOOLS= ./feature.sh")
	m.try("/usr/local/lib/reprise/bin")
	m.sh("$root/release/install.sh --uninstall --bin-dir /usr/local/lib/reprise/bin; rm -r usr")
	m.removed()
}

// testSystem tries a package of a system. The tool in /usr/bin is the real one, although shimctl is found there too.
func testSystem(m *machine, install, remove string) {
	m.t.Helper()
	m.mkdir("usr/bin")
	m.before = m.list()
	shell(m.t, m.root, install)
	m.try("$root/usr/lib/reprise/bin")
	for _, name := range rewrite.Names {
		first, err := os.Stat(filepath.Join(m.root, shims, rewrite.Names[0]))
		other, failed := os.Stat(filepath.Join(m.root, shims, name))
		if err != nil || failed != nil || !os.SameFile(first, other) || other.Mode().Perm() != 0o755 {
			m.t.Errorf("%s: %v %v", name, err, failed)
		}
	}
	said := m.sh("cp $root/real/claude $root/usr/bin; PATH=$root/usr/lib/reprise/bin:$root/usr/bin:$PATH; $root/usr/bin/shimctl doctor || true; rm $root/usr/bin/claude")
	if !strings.Contains(said, "/usr/lib/reprise/bin/claude (shim), then ") {
		m.t.Errorf("doctor says %s", said)
	}
	shell(m.t, m.root, remove)
	m.removed()
}

func testDebian(t *testing.T, release string) {
	needs(t, "dpkg", "dpkg-deb")
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	m := newMachine(t, release)
	shell(t, m.root, "mkdir -p var/lib/dpkg/info var/lib/dpkg/updates && touch var/lib/dpkg/status")
	const dpkg = "dpkg --root=. --force-not-root --force-bad-path --log=/dev/null "
	testSystem(m, dpkg+"-i release/"+one(t, release, "reprise_*_"+runtime.GOARCH+".deb")+withStore+dpkg+"-i release/"+one(t, release, "reprise-store_*_"+runtime.GOARCH+".deb")+`
		usr/lib/reprise/bin/reprise-store version
		test "$(dpkg-query --admindir=var/lib/dpkg -W -f '${Status}, ${Maintainer}' reprise)" = 'install ok installed, `+noMaintainer+`'
		grep -q . var/lib/dpkg/info/reprise.md5sums
		test -z "$(`+dpkg+`-V reprise reprise-store)"`,
		dpkg+"-r reprise-store reprise; "+dpkg+"-P reprise-store reprise")
}

func testRPM(t *testing.T, release string) {
	needs(t, "rpm", "rpmbuild")
	m := newMachine(t, release)
	const rpm = "rpm --root=$PWD --dbpath=/var/lib/rpm "
	m.mkdir("var/lib")
	testSystem(m, rpm+"-i release/"+one(t, release, "reprise-[0-9]*."+rpmArches[runtime.GOARCH]+".rpm")+withStore+
		rpm+"-i release/"+one(t, release, "reprise-store-*."+rpmArches[runtime.GOARCH]+".rpm")+"; usr/lib/reprise/bin/reprise-store version; "+
		rpm+"-V reprise reprise-store", rpm+"-e reprise-store reprise")
}

// withStore follows the installation of the package without the store's program, before that of the one with it.
const withStore = "; test ! -e usr/lib/reprise/bin/reprise-store; "

func testNPM(t *testing.T, release string) {
	needs(t, "node", "npm")
	m := newMachine(t, release, "node", "npm", "npx")
	const npm = "export npm_config_cache=$root/npm-cache npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false; "
	main, programs := one(t, release, "reprise-1.2.3.tgz"), one(t, release, "reprise-linux-"+npmArches[runtime.GOARCH]+"-1.2.3.tgz")
	m.sh(npm + "cd $root/release; npm install -g --prefix $root/npm ./" + main + " ./" + programs)
	if list := m.sh("ls $root/npm/bin"); list != "reprise\nshimctl\n" {
		t.Errorf("npm made the commands %q", list)
	}
	if said := m.sh("$root/npm/bin/shimctl version"); said != "reprise v1.2.3 (abc)\n" {
		t.Errorf("shimctl says %q", said)
	}
	m.sh("$root/npm/bin/reprise install")
	m.try(installed)
	if said := m.sh("$root/npm/bin/shimctl log; $root/npm/bin/shimctl nonsense >/dev/null 2>&1 || echo exit $?"); !strings.Contains(said, "claude") || !strings.HasSuffix(said, "exit 2\n") {
		t.Errorf("shimctl log says %s", said)
	}
	m.sh("$root/npm/bin/reprise uninstall --purge")
	m.sh(npm + "npm uninstall -g --prefix $root/npm reprise @reprise/linux-" + npmArches[runtime.GOARCH] + "; rm -r $root/npm")
	m.removed()

	m.sh("echo 'PATH=$root/real:$PATH' >$HOME/.bashrc")
	npx := npm + "cd $root/home; npx --yes --package=$root/release/" + main + " --package=$root/release/" + programs + " -- reprise "
	const typed = "bash -ic 'command -v claude' 2>/dev/null"
	m.sh("export SHELL=$root/bin/bash; " + npx + "setup --yes")
	if said := m.sh(typed); said != filepath.Join(m.root, "home", ".local/share/reprise/bin/claude")+"\n" {
		t.Errorf("after setup a shell runs %q", said)
	}
	m.try(installed)
	m.sh(npx + "setup --undo --yes; " + npx + "uninstall --purge; rm -rf $HOME/.npm")
	if said := m.sh(typed); said != filepath.Join(m.root, "real/claude")+"\n" {
		t.Errorf("after setup --undo a shell runs %q", said)
	}
	m.removed()
}

func testPip(t *testing.T, release string) {
	needs(t, "python3")
	python, err := exec.Command("python3", "-c", "import sys, ensurepip; print(sys.executable)").Output()
	if err != nil {
		t.Skip("needs Python with ensurepip")
	}
	m := newMachine(t, release, "python3")
	m.sh(strings.TrimSpace(string(python)) + " -m venv $root/venv")
	m.before = m.list()
	arch := rpmArches[runtime.GOARCH]
	m.sh("$root/venv/bin/pip install --quiet --disable-pip-version-check --no-index $root/release/" + one(t, release, "*_"+arch+".whl"))
	m.sh("$root/venv/bin/reprise install")
	m.try(installed)
	m.sh("$root/venv/bin/shimctl log; $root/venv/bin/reprise uninstall --purge; $root/venv/bin/pip uninstall --quiet --disable-pip-version-check --yes reprise-shims")
	m.removed()
}

func testBrew(t *testing.T, release string) {
	needs(t, "ruby")
	m := newMachine(t, release)
	stand, err := filepath.Abs("testdata/brew.rb")
	if err != nil {
		t.Fatal(err)
	}
	if said := shell(t, m.root, "ruby "+stand+" release/reprise.rb release $PWD/brew"); !strings.Contains(said, m.root+"/brew/libexec/bin:$PATH") {
		t.Errorf("the formula says %s", said)
	}
	shell(t, m.root, "brew/bin/shimctl version; ls brew/share/man/man1/shimctl-status.1")
	m.try("$root/brew/libexec/bin")
	m.sh("rm -r $root/brew")
	m.removed()
}
