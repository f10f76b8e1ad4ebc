package config

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

var errNoDuration = errors.New("not a duration")

// ParseDuration reads a duration as time.ParseDuration does, and days and weeks, which stand
// first, as in 1w, 7d or 1d12h. A day has 24 hours.
func ParseDuration(text string) (time.Duration, error) {
	days, rest := 0.0, text
	for _, unit := range []struct {
		name string
		days float64
	}{{"w", 7}, {"d", 1}} {
		number, after, found := strings.Cut(rest, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || strings.Trim(number, "0123456789.") != "" {
			return 0, errNoDuration
		}
		days, rest = days+n*unit.days, after
	}
	if rest == text {
		return time.ParseDuration(text)
	}
	whole := days * 24 * float64(time.Hour)
	d, err := time.ParseDuration(cmp.Or(rest, "0s"))
	if err != nil || d < 0 || d > math.MaxInt64/2 || whole > math.MaxInt64/2 {
		return 0, errNoDuration
	}
	return time.Duration(whole) + d, nil
}
