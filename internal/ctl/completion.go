package ctl

import (
	"fmt"

	"reprise/internal/ctl/app"

	"github.com/spf13/cobra"
)

func completionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "print the completion script for bash, zsh or fish",
		Long: `Prints a script that makes the shell complete shimctl's commands, flags and their values.

  bash  source <(shimctl completion bash)
  zsh   source <(shimctl completion zsh)
  fish  shimctl completion fish | source`,
		DisableFlagsInUseLine: true, ValidArgs: []string{"bash", "zsh", "fish"},
		Args: cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				err := c.Root().GenBashCompletionV2(a.Stdout, true)
				fmt.Fprint(a.Stdout, plainBash)
				return err
			case "zsh":
				return c.Root().GenZshCompletion(a.Stdout)
			default:
				return c.Root().GenFishCompletion(a.Stdout, true)
			}
		},
	}
}

// plainBash makes the script work in a bash without the package bash-completion: the generated
// script calls the function, which splits words at = and : in another way.
const plainBash = `
__shimctl_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
}
`
