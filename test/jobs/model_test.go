package jobs

import (
	"encoding/json"
	"strings"
	"testing"

	"reprise/test/markers"
	"reprise/test/realcli"
)

// modelAndWindow are the model that claude names at the start of a run, and the context windows of
// the models that it has used.
func (r result) modelAndWindow(t *testing.T) (model string, windows map[string]int) {
	t.Helper()
	windows = map[string]int{}
	for line := range strings.Lines(r.Stdout) {
		var event struct {
			Subtype, Model string
			ModelUsage     map[string]struct{ ContextWindow int }
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if event.Subtype == "init" {
			model = event.Model
		}
		for name, usage := range event.ModelUsage {
			windows[name] = usage.ContextWindow
		}
	}
	return model, windows
}

// A resumed run has the model and the window of a fresh one, also of a version that resumes
// in a smaller variant of its default model by itself.
func TestClaudeKeepsItsModel(t *testing.T) {
	t.Parallel()
	for _, pin := range []realcli.Pin{realcli.SmallerClaude, realcli.Claude} {
		t.Run(pin.Version, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, pin, true, markers.Options{})
			args := list("-p|--output-format=stream-json|--verbose")
			first := w.call(append(args[:len(args):len(args)], round())...)
			second := w.call(append(args[:len(args):len(args)],
				round("On the left: it still fails."))...)
			w.call("-p", round("On the left: it still fails.", "In text: it still fails."))
			third := w.call(append(args[:len(args):len(args)],
				round("On the left: it still fails.", "In text: it still fails.", "Again."))...)
			model, windows := first.modelAndWindow(t)
			again, windowsAgain := second.modelAndWindow(t)
			last, _ := third.modelAndWindow(t)
			w.statusSays(`"resumed": 3`)
			if model == "" || again != model || last != model {
				t.Errorf("fresh with %q, resumed with %q, after text with %q", model, again, last)
			}
			for name, window := range windowsAgain {
				if windows[name] != window {
					t.Errorf("fresh with the windows %v, resumed with %v", windows, windowsAgain)
				}
			}
			t.Logf("%s: %s, windows %v, then %s, %v", pin.Version, model, windows, again,
				windowsAgain)
		})
	}
}
