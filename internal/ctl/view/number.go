package view

import (
	"encoding/json"
	"math"
)

// A Number is a figure that may not be known: NaN, for which JSON has null.
type Number float64

var Unknown = Number(math.NaN())

func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func Rate(part, whole int64) Number {
	if whole == 0 {
		return Unknown
	}
	return Number(part) / Number(whole)
}
