package shim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite/reason"
	"reprise/test/gitrepo"
)

// guidelines are rules of 8 kB, as a project has them.
func guidelines() string {
	var rules strings.Builder
	rules.WriteString("## Guidelines of the project\n\n")
	for i := range 120 {
		fmt.Fprintf(&rules, "- Names follow those that are there already, and each sentence "+
			"stands by itself (rule %d).\n", i)
	}
	return rules.String() + "\n"
}

// Prompts of 10 kB that go on with a session are mostly sent as deltas, also where the rules are
// the first paragraph.
func TestShareOfDeltas(t *testing.T) {
	inRepositories(t)
	for name, tt := range map[string]struct {
		big   func(string) string
		least int
	}{
		"rules behind the first paragraph": {func(text string) string {
			if before, after, found := strings.Cut(text, "\n\n"); found {
				return before + "\n\n" + guidelines() + after
			}
			return text
		}, 26},
		"rules first":    {func(text string) string { return guidelines() + text }, 28},
		"rules in a tag": {func(text string) string { return "<system>\n" + guidelines()[31:] + "</system>\n\n" + text }, 22},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deltas, all := 0, 0
			for _, one := range readSequences(t, "work.json") {
				for i := range one.Calls {
					one.Calls[i].Prompt = tt.big(one.Calls[i].Prompt)
				}
				if slices.ContainsFunc(one.Calls, func(c sequenceCall) bool {
					return c.Does != "" || c.Before != ""
				}) {
					one.dir = gitrepo.Init(t)
				}
				one.sent = func(i int, prompt, text string, why reason.Code) {
					if all++; why == "" {
						deltas++
					}
					t.Logf("%s %d: %d of %d bytes %s", one.Name, i+1, len(text), len(prompt), why)
				}
				one.decisions(t)
			}
			if t.Logf("%d of %d are deltas", deltas, all); deltas < tt.least {
				t.Errorf("%d of %d are deltas, want %d", deltas, all, tt.least)
			}
		})
	}
}
