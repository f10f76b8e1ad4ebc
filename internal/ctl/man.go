package ctl

import (
	"fmt"
	"os"

	"reprise/internal/ctl/app"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func manCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "write the man pages into a directory",
		Long: `Writes the man pages, shimctl(1) and one for each command, into a directory, and creates it if it does not
exist. SOURCE_DATE_EPOCH sets their date.`,
		DisableFlagsInUseLine: true,
		Args:                  app.OneArgument("a directory"),
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
