package main

import (
	"fmt"
	"io"
	"runtime"

	"reprise/config"
	"reprise/internal/ui"
	"reprise/ledger"
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
		fmt.Fprintf(w, "| %s | %d | %d | %d | %s | %d | %d | %d | %s | %d | %d | %s |\n", a.name, s.calls, s.resumed, s.prompt(), share(s.read, s.prompt()),
			s.write, s.input, s.output, s.cost, a.failed, s.refused, ui.Amount("ms", float64(s.millis)/float64(max(1, s.calls))))
	}
	before, after := control.sums(), treated.sums()
	if before.calls == p.rounds-1 && after.calls == before.calls {
		fmt.Fprintf(w, "| change | | | %s | | %s | %s | %s | %s | | | %s |\n", change(before.prompt(), after.prompt()), change(before.write, after.write),
			change(before.input, after.input), change(before.output, after.output), change(int64(before.cost), int64(after.cost)),
			change(before.millis, after.millis))
	}
	for _, r := range treated.cached {
		fmt.Fprintf(w, "\n%s, %s\n", resumedWords(r), missedWords(r))
	}
	return err
}

func resumedWords(r ledger.CacheRow) string {
	expected := "an unknown share"
	if r.Whole > 0 {
		expected = share(r.Held, r.Whole)
	}
	return fmt.Sprintf("Resumed calls (%d): expected %s of the prompt from the cache, %s came from it", r.Calls, expected, share(r.Read, r.Prompt))
}

func missedWords(r ledger.CacheRow) string {
	return fmt.Sprintf("%d of %d missed it.", r.Missed, r.Judged)
}

// share formats a part of a whole.
func share(part, whole int64) string {
	if whole == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// change formats a difference.
func change(before, after int64) string {
	if before == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%+.0f %%", 100*float64(after-before)/float64(before))
}
