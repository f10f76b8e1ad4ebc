package main

import (
	"fmt"
	"time"

	"reprise/config"

	"github.com/spf13/pflag"
)

// whenWords say what sinceTime reads.
const whenWords = "12h, 7d or 1w ago, 2026-01-31 in UTC, or RFC 3339"

// sinceTime reads how long ago, since which day or which moment; "" is the beginning.
func (a *app) sinceTime(text string) (time.Time, error) {
	if text == "" {
		return time.UnixMilli(0), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	if d, err := config.ParseDuration(text); err == nil && d >= 0 {
		return a.now.Add(-d), nil
	}
	return time.Time{}, usageError{fmt.Sprintf("%q is no time", text), whenWords}
}

// durationHint says how a flag takes a duration.
const durationHint = "write a number and its unit (ms, s, m, h, d, w), as 36h, 7d or 1w"

// A durationFlag is the value of a flag that takes a duration.
type durationFlag struct{ *time.Duration }

// addDuration adds a flag for a duration; to holds its default.
func addDuration(flags *pflag.FlagSet, to *time.Duration, name, usage string) {
	flags.Var(durationFlag{to}, name, usage)
}

func (f durationFlag) String() string {
	if f.Duration == nil || *f.Duration == 0 {
		return "" // help shows no default
	}
	return f.Duration.String()
}

// Type returns the word by which flagError knows the flag.
func (f durationFlag) Type() string { return "duration" }

// Set reads the value from the command line.
func (f durationFlag) Set(text string) (err error) {
	*f.Duration, err = config.ParseDuration(text)
	return err
}
