package main

import (
	"fmt"
	"math"
	"reprise/internal/ui"
)

// A keptBack is a summary of what resuming saved. It is negative if resuming was dearer.
type keptBack struct {
	Measured    bool     `json:"measured" doc:"whether compared with chains that were held out; otherwise an estimate"`
	Resumed     int64    `json:"resumed_calls" doc:"calls with the saving; if measured, all of chains that were not held out"`
	Against     int64    `json:"compared_calls" doc:"calls they are compared with"`
	CostNanoUSD *float64 `json:"cost_nano_usd" doc:"cost in billionths of a dollar"`
	Tokens      *float64 `json:"weighted_tokens" doc:"tokens, weighted by what their kinds cost"`
}

// saved sums up what stats shows in full.
func (s stats) saved() keptBack {
	k := keptBack{CostNanoUSD: number(s.savedFigure("cost")), Tokens: number(s.savedFigure("weighted"))}
	if c := s.Comparison; c != nil {
		k.Measured, k.Resumed, k.Against = true, c.Treated.Calls, c.Control.Calls
		return k
	}
	k.Resumed, k.Against = s.Saving.Resumed, s.Saving.Fresh
	return k
}

// savedFigure returns what resuming has saved of a figure, NaN if that is not known.
func (s stats) savedFigure(name string) float64 {
	if c := s.Comparison; c != nil {
		for _, f := range c.Figures {
			if f.name == name {
				return f.saved()
			}
		}
	}
	if e := s.Saving; e != nil && e.Resumed > 0 {
		for _, f := range e.Figures {
			if f.name == name {
				return f.Saved
			}
		}
	}
	return math.NaN()
}

// words says how it was computed.
func (k keptBack) words() string {
	switch {
	case k.Measured:
		return fmt.Sprintf("measured: %s against %s held out", ui.Count(k.Resumed, "call"), ui.Count(k.Against, "call"))
	case k.Resumed == 0:
		return fmt.Sprintf("no resumed call has %d fresh ones of its like to compare with", minFresh)
	}
	return fmt.Sprintf("an estimate: %s against %s of their like", ui.Count(k.Resumed, "resumed call"), ui.Count(k.Against, "fresh call"))
}

func savedCell(unit string, n *float64) ui.Cell {
	switch {
	case n == nil:
		return ui.UnknownCell()
	case unit == "nano_usd":
		return priceCell(sum{known: true, nano: int64(*n), most: int64(*n)})
	}
	c := ui.NumberCell(int64(*n))
	if *n >= 0 {
		c.Human = ui.ShortNumber(int64(*n))
	}
	return c
}
