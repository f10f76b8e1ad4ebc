package view

import (
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

func (f durationFlag) Set(text string) (err error) {
	*f.Duration, err = config.ParseDuration(text)
	return err
}
