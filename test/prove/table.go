package main

import (
	"fmt"
	"io"
	"runtime"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/ledger/history"
	"reprise/test/harness"
)

// sums are the figures of one job without its first round.
type sums struct {
	calls, resumed             int
	refused                    int   // resumes that the tool did not take
	millis                     int64 // of all calls together
	input, read, write, output int64
	cost                       nano
}

func (a *arm) sums() sums {
	s := sums{}
	for i, c := range a.calls {
		if i == 0 {
			continue
		}
		s.calls++
		s.cost += a.costs[i]
		if c.Mode.Continues() {
			s.resumed++
		}
		if c.FellBack != "" {
			s.refused++
		}
		s.millis += c.Duration.Int64
		s.input += c.Input.Int64
		s.read += c.CacheRead.Int64
		s.write += c.CacheWrite.Int64
		s.output += c.Output.Int64
	}
	return s
}

func (s sums) prompt() int64 { return s.input + s.read + s.write }

// print prints what was measured, in Markdown.
func (p *proof) print(w io.Writer) error {
	control, treated := p.arms[0], p.arms[1]
	if len(control.calls) < 2 {
		return nil // nothing to compare
	}
	_, err := fmt.Fprintf(w, "%s %s, model %s, %d rounds, %s apart, the first not counted; reprise %s, %s\n\n"+
		"| job | calls | resumed | tokens sent | from the cache | written to it | neither | answered | cost | failed | refused | time a call |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
		p.tool, control.version, control.calls[0].Model, p.rounds, p.pause, config.Version, runtime.GOOS)
	for _, a := range p.arms {
		s := a.sums()
		fmt.Fprintf(w, "| %s | %d | %d | %d | %s | %d | %d | %d | %s | %d | %d | %s |\n", a.name, s.calls, s.resumed, s.prompt(), harness.Share(s.read, s.prompt()),
			s.write, s.input, s.output, s.cost, a.failed, s.refused, view.Amount("ms", view.Rate(s.millis, int64(max(1, s.calls)))))
	}
	before, after := control.sums(), treated.sums()
	if before.calls == p.rounds-1 && after.calls == before.calls {
		fmt.Fprintf(w, "| change | | | %s | | %s | %s | %s | %s | | | %s |\n", harness.Change(before.prompt(), after.prompt()), harness.Change(before.write, after.write),
			harness.Change(before.input, after.input), harness.Change(before.output, after.output), harness.Change(int64(before.cost), int64(after.cost)),
			harness.Change(before.millis, after.millis))
	}
	for _, r := range treated.cached {
		fmt.Fprintf(w, "\n%s, %s\n", resumedWords(r), missedWords(r))
	}
	return err
}

func resumedWords(r history.CacheRow) string {
	expected := "an unknown share"
	if r.Whole > 0 {
		expected = harness.Share(r.Held, r.Whole)
	}
	return fmt.Sprintf("Resumed calls (%d): expected %s of the prompt from the cache, %s came from it", r.Calls, expected, harness.Share(r.Read, r.Prompt))
}

func missedWords(r history.CacheRow) string {
	return fmt.Sprintf("%d of %d missed it.", r.Missed, r.Judged)
}
