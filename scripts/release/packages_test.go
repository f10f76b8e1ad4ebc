package main

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// where install.sh puts the programs.
const installed = "$HOME/.local/share/reprise/bin"

// packages are the ways to install a release.
var packages = map[string]func(t *testing.T, release string){
	"archive": testArchive, "script": testScript, "one line": testOneLine, "npm": testNPM,
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
	m.sh("mkdir $root/opt; cd $root/opt; gzip -dc $root/release/" +
		one(t, release, "*-linux-"+runtime.GOARCH+".tar.gz") + " | tar xf -; mv reprise-* reprise")
	m.try("$root/opt/reprise/bin")
	m.sh("cd $root/opt/reprise; ls LICENSE THIRD-PARTY-LICENSES README.md CHANGELOG.md; " +
		"grep go-sqlite3 THIRD-PARTY-LICENSES")
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
		if said := m.sh("$root/release/install.sh " + from); !strings.Contains(said,
			"version v1.2.3, linked: static\n") {
			t.Errorf("install.sh %s says %s", from, said)
		}
	}
	m.try(installed)
	m.sh("$root/release/install.sh --uninstall --purge")
	m.removed()
}

// testOneLine installs in one line, from a server, and plays the demo. Nothing is
// installed of an archive with a changed byte.
func testOneLine(t *testing.T, release string) {
	m := newMachine(t, release)
	served := t.TempDir()
	shell(t, release, "cp * "+served)
	server := httptest.NewServer(http.FileServer(http.Dir(served)))
	defer server.Close()
	const line = "curl -fsSL $from/install.sh | sh -s -- --from $from --demo"
	said := m.sh("from=" + server.URL + "; " + line)
	for _, want := range []string{"its checksum is right\n", "its signature was not checked: ",
		"version v1.2.3, linked: static\n", "tokens"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
	m.try(installed)
	m.sh("$root/release/install.sh --uninstall --purge")

	shell(t, served, "printf x | dd of="+one(t, served,
		"*-linux-"+runtime.GOARCH+".tar.gz")+" bs=1 seek=100000 conv=notrunc status=none")
	out, err := m.command("from=" + server.URL + "; " + line).CombinedOutput()
	if err == nil || !strings.Contains(string(out),
		"does not have the checksum that SHA256SUMS lists\n") {
		t.Errorf("a changed archive: %v, %s", err, out)
	}
	m.removed()
}

func testNPM(t *testing.T, release string) {
	needs(t, "node", "npm")
	m := newMachine(t, release, "node", "npm", "npx")
	const npm = "export npm_config_cache=$root/npm-cache npm_config_offline=true " +
		"npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false; "
	main, programs := one(t, release, "reprise-1.2.3.tgz"),
		one(t, release, "reprise-linux-"+npmArches[runtime.GOARCH]+"-1.2.3.tgz")
	m.sh(npm + "cd $root/release; npm install -g --prefix $root/npm ./" + main + " ./" + programs)
	if list := m.sh("ls $root/npm/bin"); list != "reprise\nshimctl\n" {
		t.Errorf("npm made the commands %q", list)
	}
	if said := m.sh("$root/npm/bin/shimctl version"); said != "reprise v1.2.3 (abc)\n" {
		t.Errorf("shimctl says %q", said)
	}
	m.sh("$root/npm/bin/reprise install")
	m.try(installed)
	if said := m.sh("$root/npm/bin/shimctl log; $root/npm/bin/shimctl nonsense >/dev/null 2>&1 " +
		"|| echo exit $?"); !strings.Contains(said, "claude") ||
		!strings.HasSuffix(said, "exit 2\n") {
		t.Errorf("shimctl log says %s", said)
	}
	m.sh("$root/npm/bin/reprise uninstall --purge")
	m.sh(npm + "npm uninstall -g --prefix $root/npm reprise @reprise/linux-" +
		npmArches[runtime.GOARCH] + "; rm -r $root/npm")
	m.removed()

	m.sh("echo 'PATH=$root/real:$PATH' >$HOME/.bashrc")
	npx := npm + "cd $root/home; npx --yes --package=$root/release/" + main +
		" --package=$root/release/" + programs + " -- reprise "
	const typed = "bash -ic 'command -v claude' 2>/dev/null"
	m.sh("export SHELL=$root/bin/bash; " + npx + "setup --yes")
	if said := m.sh(typed); said != filepath.Join(m.root, "home",
		".local/share/reprise/bin/claude")+"\n" {
		t.Errorf("after setup a shell runs %q", said)
	}
	m.try(installed)
	m.sh(npx + "setup --undo --yes; " + npx + "uninstall --purge; rm -rf $HOME/.npm")
	if said := m.sh(typed); said != filepath.Join(m.root, "real/claude")+"\n" {
		t.Errorf("after setup --undo a shell runs %q", said)
	}
	m.removed()
}
