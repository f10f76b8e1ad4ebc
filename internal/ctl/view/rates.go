package view

import (
	"math"

	"reprise/ledger"
)

func ReuseRate(g ledger.Group) float64 { return Rate(g.Resumed, g.Calls) }

// CacheRate is the share of what the models read that came from the cache.
func CacheRate(g ledger.Group) float64 { return Rate(g.CacheRead, g.Input+g.CacheRead+g.CacheWrite) }

// TokensPerSession counts every token, read or written, whatever it costs.
func TokensPerSession(g ledger.Group) float64 {
	if g.Metered == 0 {
		return math.NaN()
	}
	return Rate(g.Input+g.CacheRead+g.CacheWrite+g.Output, g.Created)
}

// Rate returns part / whole, NaN if whole is 0.
func Rate(part, whole int64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// Number returns nil for NaN.
func Number(n float64) *float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}
