package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"reprise/config"
	"reprise/internal/ui"

	"github.com/spf13/cobra"
)

func configCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "config COMMAND", Short: "check, show or create the configuration",
		Long:                  "Checks, shows or creates the configuration file.",
		DisableFlagsInUseLine: true,
	}
	makeGroup(c)
	c.AddCommand(configCheckCommand(a), configShowCommand(a), configInitCommand(a), configPathCommand(a))
	return c
}

func configPathCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "print the path of the configuration file",
		Long: "Prints the path of the configuration file, whether it exists or not.",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			path, err := config.ConfigFile(a.own)
			if err == nil {
				fmt.Fprintln(a.stdout, path)
			}
			return err
		},
	}
}

func configCheckCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "check", Short: "find mistakes in the configuration",
		Long: `Checks the configuration file, its rules and your own price list. The exit status is 3 if there is a
mistake.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.configCheck(asJSON) },
	}
	jsonFlag(c, &asJSON, "shimctl.config.check/1")
	return c
}

type configCheckReport struct {
	Schema   string          `json:"schema" doc:"name of this schema"`
	File     string          `json:"file" doc:"the configuration file"`
	Mistakes []mistakeReport `json:"mistakes" doc:"mistakes in it or the price list"`
}

type mistakeReport struct {
	Problem string `json:"problem" doc:"the mistake, and where it is"`
	Hint    string `json:"hint,omitempty" doc:"how to correct it"`
}

func (a *app) configCheck(asJSON bool) error {
	path, err := config.ConfigFile(a.own)
	if err != nil {
		return err
	}
	mistakes := a.configMistakes(path)
	if asJSON {
		err = a.stdout.PrintJSON(configCheckReport{"shimctl.config.check/1", path, mistakes})
	} else {
		for _, m := range mistakes {
			a.complain(m.Problem, m.Hint)
		}
	}
	if err == nil && len(mistakes) > 0 {
		err = errFindings
	}
	if asJSON || err != nil {
		return err
	}
	found := "no mistake was found"
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		found = "there is no such file, the defaults hold"
	}
	fmt.Fprintf(a.stdout, "%s: %s\n", ui.Printable(a.tilde(path)), found)
	return nil
}

// configMistakes returns all mistakes in the configuration file and the price list.
func (a *app) configMistakes(path string) []mistakeReport {
	list := []mistakeReport{}
	_, err := config.Load(path)
	var all config.Mistakes
	switch {
	case errors.As(err, &all):
		for _, m := range all {
			list = append(list, mistakeReport{m.Error(), m.Hint})
		}
	case err != nil:
		list = append(list, mistakeReport{err.Error(), hintFor(err)})
	}
	_, err = a.loadPrices()
	for _, wrong := range parts(err) {
		list = append(list, mistakeReport{wrong.Error(), "docs/reference/configuration.md#prices describes the price list"})
	}
	return list
}

// parts returns the errors that were joined.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func configShowCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show", Short: "show every key and its value",
		Long: "Shows every key of the configuration with its value and its default.",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.configShow(asJSON) },
	}
	jsonFlag(c, &asJSON, "shimctl.config/1")
	return c
}

type configReport struct {
	Schema   string          `json:"schema" doc:"name of this schema"`
	File     string          `json:"file" doc:"the configuration file"`
	Settings []settingReport `json:"settings" doc:"all keys outside rules"`
	Rules    []string        `json:"rules" doc:"names of your rules, in the order they are tried"`
}

type settingReport struct {
	Key     string `json:"key" doc:"the key"`
	Value   string `json:"value" doc:"its value as TOML, empty if not set"`
	Default string `json:"default" doc:"its default as TOML"`
	About   string `json:"about" doc:"its purpose"`
}

func (a *app) configShow(asJSON bool) error {
	path, err := config.ConfigFile(a.own)
	if err != nil {
		return err
	}
	cfg, err := config.Load(path)
	if err != nil {
		return err
	}
	r := configReport{Schema: "shimctl.config/1", File: path, Settings: []settingReport{}, Rules: []string{}}
	defaults := config.Default().Values()
	for n, v := range cfg.Values() {
		r.Settings = append(r.Settings, settingReport{v.Key, v.Value, defaults[n].Value, v.About})
	}
	for _, rule := range cfg.Rules {
		r.Rules = append(r.Rules, rule.Name)
	}
	if asJSON {
		return a.stdout.PrintJSON(r)
	}
	t := ui.NewFoldedTable("KEY", "VALUE", "DEFAULT", "ABOUT")
	for _, s := range r.Settings {
		value := ui.TextCell(s.Value)
		if s.Value != s.Default {
			value = value.As(ui.Good)
		}
		t.Add(ui.TextCell(s.Key), value, ui.TextCell(s.Default).As(ui.Dim), ui.TextCell(s.About).As(ui.Dim))
	}
	for _, name := range r.Rules {
		t.Add(ui.TextCell("[[rule]]"), ui.TextCell(name).As(ui.Good), ui.TextCell("").As(ui.Dim), ui.TextCell("").As(ui.Dim))
	}
	t.Print(a.stdout)
	return nil
}

func configInitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "write a configuration file with every key explained",
		Long: `Writes a configuration file with every key, its default and its purpose, all commented out. An existing
file is not changed.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.configInit() },
	}
}

func (a *app) configInit() error {
	path, err := config.ConfigFile(a.own)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return hinted{fmt.Errorf("write configuration: %s is there already", a.tilde(path)), "shimctl config show shows what holds"}
	}
	if err == nil {
		_, err = f.WriteString(template())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	fmt.Fprintln(a.stdout, ui.Printable(a.tilde(path)))
	return nil
}

// template is a configuration file that changes nothing.
func template() string {
	var b strings.Builder
	b.WriteString("# reprise: what is commented out is the default; docs/reference/configuration.md says more.\n" +
		"# A mistake switches reprise off until it is mended; shimctl config check finds it.\n")
	for _, v := range config.Default().Values() {
		value := v.Value
		if value == "" {
			value = "..."
		}
		fmt.Fprintf(&b, "\n# %s\n# %s = %s\n", v.About, v.Key, value)
	}
	b.WriteString("\n# Rules say which calls belong to one job; docs/reference/rules.md.\n# [[rule]]\n")
	return b.String()
}
