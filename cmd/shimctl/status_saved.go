package main

import (
	"fmt"
	"math"
)

// A keptBack is what resuming saved, in short. It is below zero where resuming was dearer.
type keptBack struct {
	Measured    bool     `json:"measured" doc:"compared with chains that were held out; otherwise it is an estimate"`
	Resumed     int64    `json:"resumed_calls" doc:"the calls that it is about; measured, all of the chains that were not held out"`
	Against     int64    `json:"compared_calls" doc:"the calls that they are compared with"`
	CostNanoUSD *float64 `json:"cost_nano_usd" doc:"billionths of a dollar, null where not known"`
	Tokens      *float64 `json:"weighted_tokens" doc:"tokens, weighted by what their kinds cost, null where not known"`
}

// saved sums up what stats shows in full.
func (s stats) saved() (k keptBack) {
	set := func(f figure, saved float64) {
		if math.IsNaN(saved) {
			return
		}
		switch f.name {
		case "cost":
			k.CostNanoUSD = &saved
		case "weighted":
			k.Tokens = &saved
		}
	}
	if c := s.Comparison; c != nil {
		k.Measured, k.Resumed, k.Against = true, c.Treated.Calls, c.Control.Calls
		for _, f := range c.Figures {
			set(f.figure, -f.Difference.Mean*float64(c.Treated.Calls))
		}
		return k
	}
	k.Resumed, k.Against = s.Saving.Resumed, s.Saving.Fresh
	for _, f := range s.Saving.Figures {
		if k.Resumed > 0 {
			set(f.figure, f.Saved)
		}
	}
	return k
}

// words say how it was found.
func (k keptBack) words() string {
	switch {
	case k.Measured:
		return fmt.Sprintf("measured: %s against %s held out", count(k.Resumed, "call"), count(k.Against, "call"))
	case k.Resumed == 0:
		return fmt.Sprintf("no resumed call has %d fresh ones of its like to compare with", minFresh)
	}
	return fmt.Sprintf("an estimate: %s against %s of their like", count(k.Resumed, "resumed call"), count(k.Against, "fresh call"))
}

func savedCell(unit string, n *float64) cell {
	switch {
	case n == nil:
		return unknownCell()
	case unit == "nano_usd":
		return priceCell(sum{known: true, nano: int64(*n), most: int64(*n)})
	}
	c := numberCell(int64(*n))
	if *n >= 0 {
		c.human = brief(int64(*n))
	}
	return c
}
