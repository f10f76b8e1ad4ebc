package jobs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/shim/binary"
	"reprise/test/harness"
	"reprise/test/realcli"
)

// A loop that runs claude by npx is resumed unchanged, and without a name, from the second round
// on, if npx has its shim. It is the version that npx chooses, and where npx has none, npx says so.
func TestNpx(t *testing.T) {
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Fatal(err)
	}
	shims := t.TempDir()
	for _, name := range []string{"claude", binary.Npx} {
		if err := os.Link(filepath.Join(shimBin, "claude"),
			filepath.Join(shims, name)); err != nil {
			t.Fatal(err)
		}
	}
	direct, shimmed := newWorld(t, "claude", false), newWorld(t, "claude", true)
	for _, w := range []*world{direct, shimmed} {
		real, err := realcli.Install(realcli.Claude)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Dir(real),
			filepath.Join(w.Root, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	call := func(w *world, npx, version, prompt string) result {
		return w.run(npx, harness.Call{
			Args: []string{"-y", realcli.Claude.Package + version, "-p", prompt},
			Env: []string{"npm_config_offline=true", "npm_config_logs_max=0",
				"npm_config_update_notifier=false"},
		})
	}
	for i, version := range []string{"", "@" + realcli.Claude.Version, "@0.0.1"} {
		prompt := basePrompt + strings.Join(rounds[:i+1], "\n\n")
		d, s := call(direct, npx, version, prompt), call(shimmed, filepath.Join(shims, binary.Npx),
			version, prompt)
		same(t, fmt.Sprint("round ", i+1), fmt.Sprint(d.Exit, d.Stdout, d.Stderr),
			fmt.Sprint(s.Exit, s.Stdout, s.Stderr))
		if i < 2 && s.Exit != 0 {
			t.Errorf("round %d: exit %d, %s", i+1, s.Exit, s.Stderr)
		}
	}
	if got := shimmed.continued(); got != 1 {
		t.Errorf("%d calls were resumed:\n%s", got, shimmed.log())
	}
}
