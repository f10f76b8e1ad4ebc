package ctl

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/config"
	"reprise/fleet"
	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/shim"
)

// A storeReport is what status shows of the store that machines share.
type storeReport struct {
	URL       string           `json:"url" doc:"its URL, without secrets"`
	OK        bool             `json:"ok" doc:"whether it can be used"`
	Error     string           `json:"error,omitempty" doc:"why not"`
	Failed    *time.Time       `json:"failed,omitempty" doc:"when a call of this machine last could not use it"`
	FailedWhy string           `json:"failed_why,omitempty" doc:"why it could not"`
	LatencyMS float64          `json:"latency_ms" doc:"time that one read took"`
	Tested    *time.Time       `json:"conditions_tested,omitempty" doc:"when it was seen to keep conditions on writes"`
	Complete  bool             `json:"complete" doc:"whether all of it could be read in time; otherwise the figures are too low"`
	Tasks     int64            `json:"tasks" doc:"named tasks"`
	Unnamed   int64            `json:"unnamed_chains" doc:"chains without a task"`
	Sessions  int64            `json:"sessions" doc:"their sessions that can be resumed or run"`
	Running   []sharedRun      `json:"running" doc:"the running ones"`
	Unshared  map[string]int64 `json:"unshared" doc:"calls of this machine since midnight that are not shared, by the reason"`
}

type sharedRun struct {
	Host      string     `json:"host" doc:"where it runs"`
	Elsewhere bool       `json:"elsewhere" doc:"whether that is another machine"`
	Tool      string     `json:"tool" doc:"name of the tool"`
	Task      string     `json:"task,omitempty" doc:"name of the job"`
	Since     time.Time  `json:"since" doc:"when it started"`
	Lost      *time.Time `json:"lost,omitempty" doc:"since when it counts as lost, by this machine's clock"`
}

// startStore reads the store in the background, if one is configured. The result is there within the store's timeout; it
// is nil without a store.
func startStore(a *app.App, l *ledger.Ledger) func() *storeReport {
	s, err := app.StoreSettings(a)
	if _, wrong := a.Config(); wrong != nil || err == nil && s.URL == "" { // a warning names the error
		return func() *storeReport { return nil }
	}
	if err != nil { // in REPRISE_STORE and its kin
		return func() *storeReport {
			return &storeReport{Error: err.Error(), Running: []sharedRun{}, Unshared: map[string]int64{}}
		}
	}
	read := make(chan *storeReport, 1)
	go func() { read <- readStore(a, l, s) }()
	return func() *storeReport { return <-read }
}

func readStore(a *app.App, l *ledger.Ledger, s config.Store) *storeReport {
	r := &storeReport{URL: s.Shown(), Running: []sharedRun{}}
	if f, err := shim.LastStoreFailure(a.Own); err == nil && f.Store == r.URL {
		r.Failed, r.FailedWhy = &f.When, f.Why
	}
	var err error
	if r.Unshared, err = history.Unshared(l, startOfDay(a.Now)); err != nil {
		r.Error = err.Error()
		return r
	}
	ctx, cancel := app.Within(s.Timeout)
	defer cancel()
	client, err := app.OpenStore(a, s)
	if err == nil {
		defer client.Close()
		err = r.read(ctx, client, a.Now)
	}
	r.OK = err == nil
	if err != nil {
		r.Error = shim.StoreError(err, s)
	}
	return r
}

// read asks the store. It fails only if the store cannot be used; what does not arrive in time is left out.
func (r *storeReport) read(ctx context.Context, client *wire.Client, now time.Time) error {
	report, err := client.Test(ctx) // alone, since it measures
	if err != nil {
		return err
	}
	var asking sync.WaitGroup
	var registers [2][]store.Register
	var listErrs [2]error
	for i, kind := range []string{store.Task, store.Opening} {
		asking.Go(func() { registers[i], listErrs[i] = client.Registers(ctx, kind) })
	}
	asking.Wait()
	r.LatencyMS = float64(report.Latency.Microseconds()) / 1000
	if !report.Tested.IsZero() {
		r.Tested = &report.Tested
	}
	r.Complete = cmp.Or(listErrs[0], listErrs[1]) == nil
	tasks := map[string]bool{} // each role of a task has a register
	for _, one := range registers[0] {
		tasks[strings.Join(one.Name.Of, "\x00")] = true
	}
	r.Tasks, r.Unnamed = int64(len(tasks)), int64(len(registers[1]))
	r.addSessions(fleet.Sessions(slices.Concat(registers[0], registers[1])), now)
	return nil
}

// startOfDay returns when the day of a time began.
func startOfDay(t time.Time) decide.Millis {
	year, month, day := t.Date()
	return decide.MillisOf(time.Date(year, month, day, 0, 0, 0, 0, t.Location()))
}

func (r *storeReport) addSessions(sessions []fleet.Session, now time.Time) {
	host, _ := os.Hostname()
	for _, s := range sessions {
		held := s.Holder != ""
		if s.Bundle != "" || held {
			r.Sessions++
		}
		if !held {
			continue
		}
		run := sharedRun{Host: s.Host, Elsewhere: s.Host != host, Tool: s.Tool, Task: s.Task, Since: s.LastUsed.Time()}
		if until := s.HeldUntil.Time(); until.Before(now) {
			run.Lost = &until
		}
		r.Running = append(r.Running, run)
	}
	slices.SortStableFunc(r.Running, func(a, b sharedRun) int { return a.Since.Compare(b.Since) })
}

// storeLines returns the lines about the store, none without one.
func storeLines(a *app.App, r *storeReport) (lines []string) {
	if r == nil {
		return nil
	}
	if !r.OK {
		line := strings.TrimSpace("store: "+r.URL) + " cannot be used, calls are as without it: " + r.Error
		if r.Failed != nil {
			line += "; a call found it so " + a.WhenWords(*r.Failed)
		}
		return append([]string{line}, r.unsharedLines()...)
	}
	first := fmt.Sprintf("store: %s ok, %.0f ms", r.URL, r.LatencyMS)
	if r.Tested != nil {
		first += "; conditional writes kept (tested " + a.WhenWords(*r.Tested) + ")"
	}
	if r.Failed != nil {
		first += fmt.Sprintf("; a call could not use it %s: %s", a.WhenWords(*r.Failed), r.FailedWhy)
	}
	if !r.Complete {
		first += "; it answered too slowly: these figures are too low"
	}
	shared := fmt.Sprintf("shared: %s, %s, %s", view.Count(r.Tasks, "task"), view.Count(r.Unnamed, "chain")+" without a name", view.Count(r.Sessions, "session"))
	return append([]string{first, shared + runningWords(a, r.Running)}, r.unsharedLines()...)
}

// unsharedLines returns which calls of today are not shared, and why.
func (r *storeReport) unsharedLines() (lines []string) {
	for why, n := range r.Unshared {
		lines = append(lines, fmt.Sprintf("not shared today: %s: %s", view.Count(n, "call"), why))
	}
	slices.Sort(lines)
	return lines
}

// mostRuns is how many runs are named.
const mostRuns = 3

func runningWords(a *app.App, runs []sharedRun) string {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r sharedRun) bool { return !r.Elsewhere })
	if len(runs) == 0 {
		return ", none running elsewhere"
	}
	var words []string
	for _, r := range runs[:min(mostRuns, len(runs))] {
		how := "since " + a.WhenWords(r.Since)
		if a.Stdout.Terminal {
			how = "for " + strings.TrimSuffix(a.WhenWords(r.Since), " ago")
		}
		if r.Lost != nil {
			how = "lost " + a.WhenWords(*r.Lost)
		}
		words = append(words, cmp.Or(r.Host, "a machine without a name")+" "+how)
	}
	if more := len(runs) - mostRuns; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf(", %d running elsewhere (%s)", len(runs), strings.Join(words, ", "))
}
