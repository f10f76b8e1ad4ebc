package main

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/internal/ui"
	"reprise/ledger"

	"github.com/spf13/cobra"
)

func completionCommand(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "print the completion script for bash, zsh or fish",
		Long: `Prints a script that makes the shell complete shimctl's commands and flags, and what they take: chains, tasks,
calls, tools, reasons.

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
				err := c.Root().GenBashCompletionV2(a.stdout, true)
				fmt.Fprint(a.stdout, plainBash)
				return err
			case "zsh":
				return c.Root().GenZshCompletion(a.stdout)
			default:
				return c.Root().GenFishCompletion(a.stdout, true)
			}
		},
	}
}

// plainBash makes the script work in a bash without the package bash-completion, whose function
// the generated one calls. That splits words at = and : in another way.
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

// completeChain completes what findChain takes: the numbers of chains, and the tasks.
func (a *app) completeChain(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.completeFrom(args, func(l *ledger.Ledger) (list []string, err error) {
		chains, err := l.Chains(ledger.Wanted{Limit: maxCompletions})
		for _, c := range chains {
			about := strings.Join(strings.Fields(c.Tool+" "+c.Task+" "+c.Role), " ") + " in " + a.tilde(c.Cwd)
			list = append(list, cobra.CompletionWithDesc(strconv.FormatInt(c.ID, 10), about))
			if c.Task != "" {
				list = append(list, cobra.CompletionWithDesc(c.Task, "task of chain "+strconv.FormatInt(c.ID, 10)))
			}
		}
		return list, err
	})
}

// completeCall completes the number of a call.
func (a *app) completeCall(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.completeFrom(args, func(l *ledger.Ledger) (list []string, err error) {
		calls, err := l.LatestInvocations(ledger.Wanted{Limit: maxCompletions})
		for _, i := range calls {
			list = append(list, cobra.CompletionWithDesc(strconv.FormatInt(i.ID, 10), i.Tool+", "+decision(i)))
		}
		return list, err
	})
}

const maxCompletions = 50

// completeFrom completes the only argument of a command from the ledger. Nothing is offered
// where that cannot be read.
func (a *app) completeFrom(args []string, list func(*ledger.Ledger) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	var found []string
	if len(args) == 0 {
		_ = a.withLedger(func(l *ledger.Ledger, _ reporter) (err error) {
			found, err = list(l)
			return err
		})
	}
	for i, text := range found {
		value, about, _ := strings.Cut(text, "\t")
		found[i] = cobra.CompletionWithDesc(ui.Printable(value), ui.Printable(about))
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
