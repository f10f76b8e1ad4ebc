package config

import (
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
	weeks, rest, err := cutUnit(text, "w", 7)
	if err != nil {
		return 0, err
	}
	days, rest, err := cutUnit(rest, "d", 1)
	if err != nil {
		return 0, err
	}
	if len(rest) == len(text) {
		return time.ParseDuration(text)
	}
	whole := (weeks + days) * 24 * float64(time.Hour)
	if whole > math.MaxInt64/2 {
		return 0, errNoDuration
	}
	if rest == "" {
		return time.Duration(whole), nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || d > math.MaxInt64/2 {
		return 0, errNoDuration
	}
	return time.Duration(whole) + d, nil
}

// cutUnit reads a number of units at the beginning of text, if there is one.
func cutUnit(text, unit string, length float64) (days float64, rest string, err error) {
	number, rest, found := strings.Cut(text, unit)
	if !found {
		return 0, text, nil
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.Trim(number, "0123456789.") != "" {
		return 0, "", errNoDuration
	}
	return n * length, rest, nil
}
