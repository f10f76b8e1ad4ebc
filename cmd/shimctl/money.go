package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"reprise/config"
	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A sum is an amount of money, in nano-dollars.
type sum struct {
	known     bool
	estimated bool  // from a price list; the tool reported none
	nano      int64 // at least
	most      int64 // if some requests may have been billed at the rates for long prompts, or else nano
}

func (s sum) plus(t sum) sum {
	return sum{s.known || t.known, s.estimated || t.estimated, s.nano + t.nano, s.most + t.most}
}

// loadPrices reads the built-in price list and the user's own.
func (a *app) loadPrices() (*prices.Table, error) {
	path, err := config.PricesFile(a.own)
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	return prices.Load(a.tilde(path), string(own))
}

// callCost returns what a call cost: the tool's own figure, or else what its tokens cost at list
// price.
func callCost(t *prices.Table, i ledger.Invocation) sum {
	if i.Cost.Valid {
		return sum{known: true, nano: i.Cost.Int64, most: i.Cost.Int64}
	}
	if !i.Input.Valid {
		return sum{}
	}
	u := prices.Usage{Input: i.Input.Int64, Cached: i.CacheRead.Int64, Write: i.CacheWrite.Int64, Output: i.Output.Int64}
	p, ok := t.Find(i.Model, i.Started.Time())
	if !ok {
		return sum{}
	}
	// A run makes several requests. Which of them had long prompts is not known, only
	// that none had if all together were short.
	return listPrice(p, u, u.Input+u.Cached+u.Write > p.Long.Above)
}

func listPrice(p prices.Price, u prices.Usage, maybeLong bool) sum {
	nano, ok := p.Cost(u)
	s := sum{known: ok, estimated: true, nano: nano, most: nano}
	if ok && maybeLong && p.Long.Above > 0 {
		if s.most, ok = p.Long.Cost(u); !ok {
			return sum{}
		}
	}
	return s
}

// missingPrice says what to do for a model that the price lists do not have.
func (a *app) missingPrice(model string) string {
	path := "prices.toml"
	if file, err := config.PricesFile(a.own); err == nil {
		path = a.tilde(file)
	}
	return fmt.Sprintf("no list price of %s is known; %s can hold it (docs/reference/configuration.md#prices)", model, path)
}

// A bill adds up what many calls cost.
type bill struct {
	calls     int64
	resumed   int64
	forked    int64 // of the resumed ones, those in a copy of the session
	fresh     int64
	never     int64 // of the fresh ones, those that a rule makes independent
	asked     int64 // bytes of the callers' prompts
	sent      int64 // bytes of what the models were sent
	stopped   int64 // calls that were not run; not in any other number
	byTool    int64 // calls of those whose price the tool reported
	byList    int64 // those whose tokens were priced by the list
	notKnown  int64 // calls of which nothing is known
	total     sum
	input     int64
	cached    int64
	write     int64
	output    int64
	uncounted int64            // calls whose tokens are not known
	unlisted  map[string]int64 // calls that lack nothing but their model's list price
}

func (b *bill) add(t *prices.Table, s ledger.Slice) {
	if s.Mode == rewrite.Stopped {
		b.stopped += s.Calls
		return
	}
	b.calls += s.Calls
	switch s.Mode {
	case rewrite.Resume:
		b.resumed += s.Calls
	case rewrite.Fork:
		b.resumed, b.forked = b.resumed+s.Calls, b.forked+s.Calls
	case rewrite.Fresh:
		b.fresh += s.Calls
	}
	if s.Reason == reason.Never {
		b.never += s.Calls
	}
	b.asked, b.sent = b.asked+s.PromptBytes, b.sent+s.SentBytes
	b.input, b.cached, b.write, b.output = b.input+s.Input, b.cached+s.CacheRead, b.write+s.CacheWrite, b.output+s.Output
	if !s.Counted {
		b.uncounted += s.Calls
	}
	cost := costOfAll(t, s)
	switch {
	case s.Priced:
		b.byTool += s.Calls
	case cost.known:
		b.byList += s.Calls
	default:
		b.notKnown += s.Calls
		if s.Counted && s.Model != "" {
			if b.unlisted == nil {
				b.unlisted = map[string]int64{}
			}
			b.unlisted[s.Model] += s.Calls
		}
	}
	b.total = b.total.plus(cost)
}

// prompt counts the tokens of all kinds that the model was sent.
func (b *bill) prompt() int64 { return b.input + b.cached + b.write }

func costOfAll(t *prices.Table, s ledger.Slice) sum {
	if s.Priced {
		return sum{known: true, nano: s.Cost, most: s.Cost}
	}
	if !s.Counted {
		return sum{}
	}
	p, ok := t.Find(s.Model, s.Day.Time().Add(12*time.Hour))
	if !ok {
		return sum{}
	}
	return listPrice(p, prices.Usage{Input: s.Input, Cached: s.CacheRead, Write: s.CacheWrite, Output: s.Output}, s.Long)
}

// listPrice returns what the calls of a slice cost at list price. It is not known where some of them
// may have been billed at the rates for long prompts.
func (r reporter) listPrice(s ledger.Slice) (nano int64, ok bool) {
	cost := costOfAll(r.prices, s)
	return cost.nano, cost.known && cost.most == cost.nano
}
