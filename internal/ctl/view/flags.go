package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/config"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A ColumnsFlag is the value of --columns: names from the headers of a command's tables.
type ColumnsFlag struct {
	Names []string
	known []string
}

// AddColumns adds --columns to a command whose tables have these headers.
func AddColumns(c *cobra.Command, headers ...[]string) *ColumnsFlag {
	f := &ColumnsFlag{}
	for _, name := range slices.Concat(headers...) {
		if !slices.Contains(f.known, name) {
			f.known = append(f.known, name)
		}
	}
	c.Flags().Func("columns", "show only these `COLUMNS`, in this order: names from the header with commas between", f.set)
	err := c.RegisterFlagCompletionFunc("columns", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		return Mapped(f.known, func(name string) string { return before + strings.ToLower(name) }), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag
	}
	return f
}

func (f *ColumnsFlag) set(text string) error {
	f.Names = nil
	for _, name := range strings.Split(text, ",") {
		name = strings.ToUpper(strings.TrimSpace(name))
		if !slices.Contains(f.known, name) {
			known := Mapped(f.known, strings.ToLower)
			if near := config.Nearest(name, known); near != "" {
				return fmt.Errorf("did you mean %s", near)
			}
			return fmt.Errorf("the columns are %s", strings.Join(known, ", "))
		}
		f.Names = append(f.Names, name)
	}
	return nil
}

const MinuteFormat = "2006-01-02 15:04"

// DurationHint says how a flag takes a duration.
const DurationHint = "write a number and its unit (ms, s, m, h, d, w), as 36h, 7d or 1w"

// AddDuration adds a flag for a duration; to holds its default, 0 for none.
func AddDuration(flags *pflag.FlagSet, to *time.Duration, name, usage string) {
	if *to != 0 {
		usage += fmt.Sprintf(" (default %s)", to)
	}
	flags.Func(name, usage, func(text string) (err error) {
		if *to, err = config.ParseDuration(text); err != nil {
			err = errors.New(DurationHint)
		}
		return err
	})
}
