package view

import (
	"errors"
	"time"

	"reprise/config"

	"github.com/spf13/pflag"
)

const MinuteFormat = "2006-01-02 15:04"

// DurationHint says how a flag takes a duration.
const DurationHint = "write a number and its unit (ms, s, m, h, d, w), as 36h, 7d or 1w"

// AddDuration adds a flag for a duration; to holds the default, 0 for none.
func AddDuration(flags *pflag.FlagSet, to *time.Duration, name, usage string) {
	flags.Func(name, usage, func(text string) (err error) {
		if *to, err = config.ParseDuration(text); err != nil {
			err = errors.New(DurationHint)
		}
		return err
	})
}
