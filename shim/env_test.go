package shim

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The tool gets what the caller has set, down to what os.Environ leaves out.
func TestEnviron(t *testing.T) {
	const ask = "REPRISE_TEST_ENVIRON"
	if os.Getenv(ask) != "" {
		os.Stdout.WriteString(strings.Join(OSEnv().Environ, "\n") + "\n")
		os.Exit(0)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := []string{ask + "=1", "TWICE=first", "GOMAXPROCS=3", "TWICE=second", "EMPTY=", "no equals sign"}
	p, err := os.StartProcess(os.Args[0], []string{"shim.test", "-test.run=^TestEnviron$"},
		&os.ProcAttr{Env: want, Files: []*os.File{nil, w, os.Stderr}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, _ := r.Read(buf)
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSpace(string(buf[:n])), "\n"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
