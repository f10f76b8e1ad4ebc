package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func completionCommand(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "print the completion script for bash, zsh or fish",
		Long: `Prints a script that makes the shell complete shimctl's commands and flags.

  bash  source <(shimctl completion bash)
  zsh   source <(shimctl completion zsh)
  fish  shimctl completion fish | source`,
		DisableFlagsInUseLine: true, ValidArgs: shells,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || cobra.OnlyValidArgs(c, args) != nil {
				return usageError{"completion needs the name of a shell", "one of " + strings.Join(shells, ", ")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return c.Root().GenZshCompletion(a.stdout)
			default:
				return c.Root().GenFishCompletion(a.stdout, true)
			}
		},
	}
}
