package ctl

import (
	"cmp"
	"fmt"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
)

func configGetCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "print the value of a key",
		Long: "Prints a key's value or its default; a list line by line.",
		Args: app.OneArgument("one key"), ValidArgsFunction: completeKey,
		RunE: func(_ *cobra.Command, args []string) error { return configGet(a, args[0]) },
	}
}

func configSetCommand(a *app.App) *cobra.Command {
	var agreed app.Consent
	return agreed.AddFlags(&cobra.Command{
		Use: "set KEY VALUE...", Short: "set a key in the configuration file",
		Long: `Sets a key outside of rules, and shows the change; at a terminal it asks first. Several values make a list. Nothing is
written if the file would have a mistake.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return app.Usage(c.CommandPath()+" takes a key and its value", "usage: "+c.UseLine())
			}
			return nil
		},
		RunE:              func(_ *cobra.Command, args []string) error { return configSet(a, args[0], args[1:], agreed) },
		ValidArgsFunction: completeKey,
	})
}

func configUnsetCommand(a *app.App) *cobra.Command {
	var agreed app.Consent
	return agreed.AddFlags(&cobra.Command{
		Use: "unset KEY", Short: "take a key out of the configuration file",
		Long:              "Takes a key outside of rules out of the file: its default holds. Otherwise the same as set.",
		Args:              app.OneArgument("one key"),
		RunE:              func(_ *cobra.Command, args []string) error { return configSet(a, args[0], nil, agreed) },
		ValidArgsFunction: completeKey,
	})
}

func completeKey(_ *cobra.Command, args []string, _ string) (keys []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, v := range config.Default().Values() {
			keys = append(keys, cobra.CompletionWithDesc(v.Key, v.About))
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func configGet(a *app.App, key string) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	value, known := cfg.Value(key)
	if !known {
		return config.CheckKey("configuration", key)
	}
	var parsed struct{ Value any }
	if _, err := toml.Decode("value = "+value, &parsed); err != nil {
		return nil // not set
	}
	list, ok := parsed.Value.([]any)
	if !ok {
		list = []any{value}
		if text, ok := parsed.Value.(string); ok {
			list[0] = text
		}
	}
	for _, one := range list {
		fmt.Fprintln(a.Stdout, view.Printable(fmt.Sprint(one)))
	}
	return nil
}

// configSet sets a key, without words takes it out. Whoever names the value to a program has decided: only a person is asked.
func configSet(a *app.App, key string, words []string, agreed app.Consent) error {
	edit, err := configEdit(a, key, words)
	if err != nil {
		return err
	}
	if !edit.Changes() {
		a.Stderr.Notice("there is nothing to change in " + a.Tilde(edit.File))
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s:\n", view.Printable(a.Tilde(edit.File)))
	gone, come := edit.Lines()
	a.Stdout.Changed("-", view.Bad, gone...)
	a.Stdout.Changed("+", view.Good, come...)
	if value, known := config.Default().Value(key); known && words == nil {
		a.Stdout.Notice(key + " goes back to its default: " + cmp.Or(value, "not set"))
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

func configEdit(a *app.App, key string, words []string) (edit textfile.Edit, err error) {
	if edit, err = textfile.Config(a); err != nil {
		return edit, err
	}
	if words == nil {
		edit.New, err = config.Unset(edit.File, edit.Old, a.Getenv("HOME"), key)
	} else {
		edit.New, err = config.Set(edit.File, edit.Old, a.Getenv("HOME"), key, words, "")
	}
	return edit, err
}
