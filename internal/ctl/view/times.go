package view

import (
	"time"

	"reprise/config"

	"github.com/spf13/pflag"
)

const MinuteFormat = "2006-01-02 15:04"

// DurationHint says how a flag takes a duration.
const DurationHint = "write a number and its unit (ms, s, m, h, d, w), as 36h, 7d or 1w"

// A durationFlag is the value of a flag that takes a duration.
type durationFlag struct{ *time.Duration }

// AddDuration adds a flag for a duration; to holds its default.
func AddDuration(flags *pflag.FlagSet, to *time.Duration, name, usage string) {
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
