package view

import (
	"cmp"
	"math"
	"time"

	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/rewrite"
)

// Human writes the sum for people. A tilde marks an estimate.
func (s Sum) Human() string {
	switch {
	case !s.Known:
		return NotKnown
	case s.Most > s.Nano:
		return "~" + dollars(s.Nano) + " to " + dollars(s.Most)
	case s.Source == fromList, s.Source == mixed:
		return "~" + dollars(s.Nano)
	}
	return dollars(s.Nano)
}

// A Sum is an amount of money, in nano-dollars.
type Sum struct {
	Known bool
	Nano  int64 // at least
	// if some requests might have been billed at the rates for long prompts, or else nano
	Most   int64
	Source string // as MoneyReport has it
}

// The sources of a sum.
const (
	fromTool = "tool"
	fromList = "list"
	mixed    = "mixed"
)

// Plus adds the known amounts of two sums.
func (s Sum) Plus(t Sum) Sum {
	source := cmp.Or(s.Source, t.Source)
	if t.Source != "" && source != t.Source {
		source = mixed
	}
	return Sum{s.Known || t.Known, s.Nano + t.Nano, s.Most + t.Most, source}
}

// CallCost returns the cost of a call: the tool's own figure, or else the cost of the tokens at
// list price.
func CallCost(t *prices.List, i ledger.Record) Sum {
	switch {
	case i.Cost.Valid:
		return Sum{true, i.Cost.Int64, i.Cost.Int64, fromTool}
	case !i.Input.Valid:
		return Sum{}
	}
	// A run makes several requests. Which of them had long prompts is not known, only that none had
	// if all together were short.
	u := rewrite.Usage{Input: i.Input.Int64, CacheRead: i.CacheRead.Int64,
		CacheWrite: i.CacheWrite.Int64, Output: i.Output.Int64}
	return listPrice(t, i.Model, i.Started.Time(), u, u.Prompt())
}

// listPrice returns the cost of tokens at list price. No prompt among them was longer than longest:
// some might have been billed at the rates for long ones.
func listPrice(t *prices.List, model string, at time.Time, u rewrite.Usage, longest int64) Sum {
	p, ok := t.Find(model, at)
	if !ok {
		return Sum{}
	}
	nano, ok := p.Cost(u)
	most := nano
	if ok && p.Long.Above > 0 && longest > p.Long.Above {
		most, ok = p.Long.Cost(u)
	}
	if !ok {
		return Sum{}
	}
	return Sum{true, nano, most, fromList}
}

// A Bill adds up the cost of many managed calls.
type Bill struct {
	history.Sums
	Total    Sum
	NotKnown int64            // calls of unknown cost, not in the sum
	Unlisted map[string]int64 // calls that lack nothing but their model's list price
}

// Bill returns the cost of the managed calls of slices: every command that shows a sum has it from
// here.
func (r Reporter) Bill(slices []history.Slice) Bill {
	b := Bill{Unlisted: map[string]int64{}}
	for _, s := range slices {
		if !s.Managed() {
			continue
		}
		b.Add(s.Sums)
		cost := costOfAll(r.Prices, s)
		b.Total = b.Total.Plus(cost)
		if !cost.Known {
			b.NotKnown += s.Calls
			if s.Counted && s.Model != "" {
				b.Unlisted[s.Model] += s.Calls
			}
		}
	}
	return b
}

// Fresh counts the fresh calls.
func (b *Bill) Fresh() int64 { return b.Calls - b.Resumed }

// HasPrice counts the calls of known cost.
func (b *Bill) HasPrice() int64 { return b.Calls - b.NotKnown }

func costOfAll(t *prices.List, s history.Slice) Sum {
	switch {
	case s.Priced:
		return Sum{true, s.Cost, s.Cost, fromTool}
	case !s.Counted:
		return Sum{}
	}
	longest := int64(0)
	if s.Long {
		longest = math.MaxInt64
	}
	return listPrice(t, s.Model, s.Day.Time().Add(12*time.Hour), rewrite.Usage{Input: s.Input,
		CacheRead: s.CacheRead, CacheWrite: s.CacheWrite, Output: s.Output}, longest)
}

// ListPrice returns the cost of a slice's calls at list price. It is not known where some of them
// might have been billed at the rates for long prompts.
func (r Reporter) ListPrice(s history.Slice) (nano int64, ok bool) {
	cost := costOfAll(r.Prices, s)
	return cost.Nano, cost.Known && cost.Most == cost.Nano
}

// CacheRate is the share of the models' input that came from the cache.
func CacheRate(s history.Sums) Number {
	return Rate(s.CacheRead, s.Input+s.CacheRead+s.CacheWrite)
}
