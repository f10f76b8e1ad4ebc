package ctl

import (
	"cmp"
	"fmt"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"

	"github.com/spf13/cobra"
)

func configCommand(a *app.App) *cobra.Command {
	var asJSON, path, schema bool
	c := &cobra.Command{
		Use: "config", Short: "show or change the configuration",
		Long: `Shows every key of the configuration with its value, its default and its purpose. shimctl doctor
checks the file.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case path:
				file, err := config.ConfigFile(a.Own)
				if err == nil {
					fmt.Fprintln(a.Stdout, file)
				}
				return err
			case schema:
				text, err := config.Schema()
				if err == nil {
					_, err = a.Stdout.Write(text)
				}
				return err
			}
			return showConfig(a, asJSON)
		},
	}
	app.JSONFlag(c, &asJSON, "shimctl.config/1")
	c.Flags().BoolVar(&path, "path", false, "print the path of the file, even if there is none")
	c.Flags().BoolVar(&schema, "schema", false, "print a JSON Schema of the file, for editors")
	c.MarkFlagsMutuallyExclusive("json", "path", "schema")
	c.AddCommand(configSetCommand(a))
	return c
}

type configReport struct {
	Schema   string         `json:"schema" doc:"name of this schema"`
	File     string         `json:"file" doc:"the configuration file"`
	Settings []config.Value `json:"settings" doc:"all keys outside rules"`
	Rules    []string       `json:"rules" doc:"names of your rules, in the order they are tried"`
}

func showConfig(a *app.App, asJSON bool) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	path, _ := config.ConfigFile(a.Own) // it was just read
	rules := view.Mapped(cfg.Rules, func(r config.Rule) string { return r.Name })
	r := configReport{Schema: "shimctl.config/1", File: path, Settings: cfg.Values(),
		Rules: rules}
	if asJSON {
		return a.Stdout.PrintJSON(r)
	}
	t := view.NewFoldedTable("KEY", "VALUE", "DEFAULT", "ABOUT")
	for _, s := range r.Settings {
		t.Add(view.TextCell(s.Key), view.TextCell(s.Value), view.TextCell(s.Default),
			view.TextCell(s.About))
	}
	for _, name := range r.Rules {
		t.Add(view.TextCell("[[rule]]"), view.TextCell(name), view.Cell{}, view.Cell{})
	}
	t.Print(a.Stdout)
	return nil
}

func configSetCommand(a *app.App) *cobra.Command {
	var agreed app.Consent
	var unset bool
	c := &cobra.Command{
		Use: "set KEY VALUE... | KEY --unset", Short: "set a key in the configuration file",
		Long: `Sets a key outside of rules, or takes it out with --unset, and shows the change; at a terminal it asks
first. Several values make a list. Nothing is written if the file would have a mistake; a line of the key
that cannot be read is replaced.`,
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || unset != (len(args) == 1) {
				return app.Usage(c.CommandPath()+" takes a key and its value, or a key and --unset",
					"usage: "+c.UseLine())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return configSet(a, args[0], args[1:], agreed)
		},
		ValidArgsFunction: completeKey,
	}
	c.Flags().BoolVar(&unset, "unset", false, "take the key out: its default holds")
	return agreed.AddFlags(c)
}

func completeKey(_ *cobra.Command, args []string, _ string) (keys []string,
	_ cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, v := range config.Default().Values() {
			keys = append(keys, cobra.CompletionWithDesc(v.Key, v.About))
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// configSet sets a key, without words takes it out. Only a person is asked: a program that names
// the value has decided.
func configSet(a *app.App, key string, words []string, agreed app.Consent) error {
	edit, err := textfile.Config(a)
	switch {
	case err != nil:
	case len(words) == 0:
		edit.New, err = config.Unset(edit.File, edit.Old, a.Getenv("HOME"), key)
	default:
		edit.New, err = config.Set(edit.File, edit.Old, a.Getenv("HOME"), key, words)
	}
	if err != nil {
		return err
	}
	if !edit.Changes() {
		a.Stderr.Notice("there is nothing to change in " + a.Tilde(edit.File))
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s:\n", view.Printable(a.Tilde(edit.File)))
	gone, come := edit.Lines()
	a.Stdout.Changed("-", gone...)
	a.Stdout.Changed("+", come...)
	for _, v := range config.Default().Values() {
		if v.Key == key && len(words) == 0 {
			a.Stdout.Notice(key + " goes back to its default: " + cmp.Or(v.Default, "not set"))
		}
	}
	if agreed.Dry || a.CanAsk() {
		if ok, err := a.Agreed("write this", agreed); !ok {
			return err
		}
	}
	if err := edit.Write(); err != nil {
		return fmt.Errorf("write %s: %w", edit.File, err)
	}
	a.Stdout.Notice("wrote " + a.Tilde(edit.File))
	return nil
}
