package view

import (
	"encoding/json"
	"math"
)

// A Number is a figure that may not be known: NaN, for which JSON has null.
type Number float64

// Unknown is a figure that is not known.
var Unknown = Number(math.NaN())

// Known reports whether there is such a figure.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON returns the figure, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Rate returns part / whole.
func Rate(part, whole int64) Number {
	if whole == 0 {
		return Unknown
	}
	return Number(part) / Number(whole)
}
