package decide

import "math"

// SendsWhole reports whether a chain with that share is sent whole prompts, for comparison. It goes by other digits of the
// number than HoldOut, so that each of the two comparisons has chains of all kinds on both sides.
func (l Limits) SendsWhole(share float64) bool { return math.Mod(share*1000, 1) < l.WholeOut }
