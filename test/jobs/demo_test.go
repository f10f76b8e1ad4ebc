package jobs

import (
	"math"
	"os"
	"strings"
	"testing"

	"reprise/config"
	"reprise/internal/ctl/saving"
	"reprise/internal/demo"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/shim"
	"reprise/test/harness"
	"reprise/test/realcli"
)

// The demo's job with each real CLI: the second round is resumed, and no file is read again but the
// changed one.
func TestDemo(t *testing.T) {
	pins := map[string]realcli.Pin{}
	for _, tool := range demo.Tools {
		pins[tool] = realcli.Pins[tool]
	}
	each(t, pins, func(t *testing.T, tool string, pin realcli.Pin) {
		real, err := realcli.Install(pin)
		if err != nil {
			t.Fatal(err)
		}
		play := func(shims string) demo.Play {
			p, err := demo.Setup{Tool: tool, Real: real, Shims: shims}.Play(t.Context(),
				t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Calls) != 4 {
				t.Fatalf("%d calls: %+v", len(p.Calls), p.Calls)
			}
			return p
		}
		without, with := play(""), play(shimBin)
		for i, c := range with.Calls {
			was := without.Calls[i]
			if i < 2 {
				if !strings.HasPrefix(c.Decision, "fresh") || c.Sent != was.Sent ||
					c.Requests != was.Requests {
					t.Errorf("call %d: %s, %d requests, %d without the shim: %s", i+1, c.Decision,
						c.Requests, was.Requests, harness.Differ("prompt", was.Sent, c.Sent))
				}
				continue
			}
			if c.Decision != "resume (extends)" || len(c.Sent) >= len(was.Sent)/2 ||
				c.Requests != 2 {
				t.Errorf("call %d: %s, %d B sent of %d B, %d requests", i+1, c.Decision,
					len(c.Sent), len(was.Sent), c.Requests)
			}
		}
		if err := with.Resumed(without); err != nil {
			t.Error(err)
		}
		leftOut := 0
		for i, c := range with.Calls {
			leftOut += len(without.Calls[i].Sent) - len(c.Sent)
		}
		path, err := config.LedgerFile(shim.Env{Environ: with.Env}.Get)
		if err != nil {
			t.Fatal(err)
		}
		if got := savingIn(t, path); got.Calls != 4 || got.Resumed != 2 ||
			got.LeftOutBytes != int64(leftOut) {
			t.Errorf("%+v, but the model was sent %d B less", got, leftOut)
		}
		if left, err := os.ReadDir(t.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// savingIn returns the saving of all calls in a ledger.
func savingIn(t *testing.T, path string) saving.Saving {
	t.Helper()
	l, err := ledger.OpenExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	slices, err := history.Slices(l, history.Filter{}, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	return saving.New(slices, nil)
}
