package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func manCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "write the man pages into a folder",
		Long: `Writes the man pages, shimctl(1) and one for each command, into a folder, which is made where there
is none. SOURCE_DATE_EPOCH sets the date that they bear.`,
		DisableFlagsInUseLine: true,
		Args:                  oneArgument("a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("write man pages: %w", err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "reprise", Manual: "reprise"}, args[0]); err != nil {
				return fmt.Errorf("write man pages: %w", err)
			}
			return nil
		},
	}
}
