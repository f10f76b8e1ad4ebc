package why

import (
	"slices"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"
)

func TestPassedReports(t *testing.T) {
	row := func(tool, cwd string, r reason.Code, when decide.Millis,
		calls int64) history.PassthroughRow {
		return history.PassthroughRow{Passthrough: ledger.Passthrough{Tool: tool, Cwd: cwd,
			Reason: r, When: when},
			Calls: calls}
	}
	list := PassthroughReports([]history.PassthroughRow{
		row("claude", "/b", reason.StdinOpen, 3000, 2),
		row("codex", "/a", reason.OptedOut, 2000, 1), row("codex", "/b", reason.StdinOpen, 1000, 3),
	})
	if len(list) != 2 || list[0].Calls != 5 ||
		!slices.Equal(list[0].Tools, []string{"claude", "codex"}) ||
		!slices.Equal(list[0].Directories, []string{"/b"}) || list[0].Last.UnixMilli() != 3000 {
		t.Errorf("%+v", list)
	}
	if want := "5 calls of claude and codex passed through, last 3m ago: stdin is open and " +
		"silent: the prompt is not known. Add </dev/null"; list[0].Words("3m ago") != want {
		t.Errorf("%q", list[0].Words("3m ago"))
	}
}
