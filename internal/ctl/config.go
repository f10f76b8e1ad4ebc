package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"

	"github.com/spf13/cobra"
)

// schemaFile is the name of the schema beside the configuration, whose first line names it for editors.
const schemaFile = "config.schema.json"

func configCommand(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "config COMMAND", Short: "check, show, change or create the configuration",
		Long:                  "Checks, shows, changes or creates the configuration file.",
		DisableFlagsInUseLine: true,
	}
	app.MakeGroup(c)
	c.AddCommand(configCheckCommand(a), configShowCommand(a), configGetCommand(a), configSetCommand(a), configUnsetCommand(a),
		configInitCommand(a), configPathCommand(a), configSchemaCommand(a))
	return c
}

func configPathCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "print the path of the configuration file",
		Long: "Prints the configuration file's path, even if there is none.",
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			path, err := config.ConfigFile(a.Own)
			if err == nil {
				fmt.Fprintln(a.Stdout, path)
			}
			return err
		},
	}
}

func configCheckCommand(a *app.App) *cobra.Command {
	var asJSON bool
	return app.JSONFlag(&cobra.Command{
		Use: "check", Short: "find mistakes in the configuration",
		Long: "Checks the configuration file, its rules and your own price list.",
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return checkConfigFile(a, asJSON) },
	}, &asJSON, "shimctl.config.check/1")
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

func checkConfigFile(a *app.App, asJSON bool) error {
	path, err := config.ConfigFile(a.Own)
	if err != nil {
		return err
	}
	_, err = config.Load(path)
	mistakes := configMistakes(a, err)
	if asJSON {
		err = a.Stdout.PrintJSON(configCheckReport{"shimctl.config.check/1", path, mistakes})
	} else {
		err = nil
		for _, m := range mistakes {
			a.Complain(m.Problem, m.Hint)
		}
	}
	if err == nil && len(mistakes) > 0 {
		err = app.ErrFindings
	}
	if asJSON || err != nil {
		return err
	}
	found := "no mistake was found"
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		found = "there is no such file, the defaults hold"
	}
	a.Stdout.Notice(a.Tilde(path) + ": " + found)
	return nil
}

// configMistakes returns all mistakes in the configuration file, which loading it has found, and in the price list.
func configMistakes(a *app.App, err error) []mistakeReport {
	list := []mistakeReport{}
	var all config.Mistakes
	switch {
	case errors.As(err, &all):
		for _, m := range all {
			list = append(list, mistakeReport{m.Error(), m.Hint})
		}
	case err != nil:
		list = append(list, mistakeReport{err.Error(), app.HintFor(err)})
	}
	if _, err = a.LoadPrices(); err != nil {
		for wrong := range strings.SplitSeq(err.Error(), "\n") { // those that were joined
			list = append(list, mistakeReport{wrong, "a price is " + app.PriceForm})
		}
	}
	return list
}

func configShowCommand(a *app.App) *cobra.Command {
	var asJSON bool
	return app.JSONFlag(&cobra.Command{
		Use: "show", Short: "show every key and its value",
		Long: "Shows every key of the configuration with its value and its default.",
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return showConfig(a, asJSON) },
	}, &asJSON, "shimctl.config/1")
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

func showConfig(a *app.App, asJSON bool) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	path, _ := config.ConfigFile(a.Own) // it was just read
	rules := view.Mapped(cfg.Rules, func(r config.Rule) string { return r.Name })
	r := configReport{Schema: "shimctl.config/1", File: path, Settings: []settingReport{}, Rules: rules}
	defaults := config.Default().Values()
	for n, v := range cfg.Values() {
		r.Settings = append(r.Settings, settingReport{v.Key, v.Value, defaults[n].Value, v.About})
	}
	if asJSON {
		return a.Stdout.PrintJSON(r)
	}
	t := view.NewFoldedTable("KEY", "VALUE", "DEFAULT", "ABOUT")
	for _, s := range r.Settings {
		value := view.TextCell(s.Value)
		if s.Value != s.Default {
			value = value.As(view.Good)
		}
		t.Add(view.TextCell(s.Key), value, view.TextCell(s.Default).As(view.Dim), view.TextCell(s.About).As(view.Dim))
	}
	for _, name := range r.Rules {
		t.Add(view.TextCell("[[rule]]"), view.TextCell(name).As(view.Good), view.TextCell("").As(view.Dim), view.TextCell("").As(view.Dim))
	}
	t.Print(a.Stdout)
	return nil
}

func configInitCommand(a *app.App) *cobra.Command {
	var agreed app.Consent
	return agreed.AddFlags(&cobra.Command{
		Use: "init", Short: "write a configuration file with every key explained",
		Long: `Writes a configuration file with every key, its default and its purpose, all commented out, and beside it
config.schema.json, which the first line names to editors. An existing file is not changed.`,
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return configInit(a, agreed) },
	})
}

func configInit(a *app.App, agreed app.Consent) error {
	path, err := config.ConfigFile(a.Own)
	if err != nil {
		return err
	}
	edit := textfile.Edit{File: path, New: template()}
	if _, err := os.Lstat(path); err == nil {
		return app.WithHint(fmt.Errorf("write configuration: %s is there already", a.Tilde(path)), "shimctl config show shows what holds")
	}
	if ok, err := a.Agreed("write "+a.Tilde(path)+" and "+schemaFile+" beside it", agreed); !ok {
		return err
	}
	schema, err := config.Schema()
	if err == nil {
		err = errors.Join(edit.Write(), textfile.WriteFile(filepath.Join(filepath.Dir(path), schemaFile), 0o644, schema))
	}
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	fmt.Fprintln(a.Stdout, view.Printable(a.Tilde(path)))
	return nil
}

// template is a configuration file that changes nothing.
func template() string {
	var b strings.Builder
	b.WriteString("#:schema ./" + schemaFile + "\n# reprise: what is commented out is the default; shimctl config set KEY VALUE changes a key.\n" +
		"# A mistake switches reprise off until it is mended; shimctl config check finds it.\n")
	for _, v := range config.Default().Values() {
		value := v.Value
		if value == "" {
			value = "..."
		}
		fmt.Fprintf(&b, "\n# %s\n# %s = %s\n", v.About, v.Key, value)
	}
	b.WriteString("\n# Rules say which calls belong to one job; shimctl rule add --from CALL makes one.\n# [[rule]]\n")
	return b.String()
}

func configSchemaCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "print a JSON Schema of the configuration, for editors",
		Long: "Prints a JSON Schema of the configuration file, for editors with taplo (Even Better TOML).",
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			text, err := config.Schema()
			if err == nil {
				_, err = a.Stdout.Write(text)
			}
			return err
		},
	}
}
