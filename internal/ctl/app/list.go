package app

import (
	"reprise/internal/ctl/view"
	"reprise/ledger"

	"github.com/spf13/cobra"
)

// A Listing is what the flags of a command that lists things say.
type Listing struct {
	AsJSON bool
	Filter *FilterFlags
	*view.ColumnsFlag
	Wanted ledger.Wanted // without the filter
}

// ListFlags adds --json, --limit, --columns and the filter to a command that lists things in tables with
// these headers.
func ListFlags(a *App, c *cobra.Command, schema string, headers ...[]string) *Listing {
	var list Listing
	JSONFlag(c, &list.AsJSON, schema)
	c.Flags().IntVarP(&list.Wanted.Limit, "limit", "n", 50, "show at most `N`, 0 for all")
	c.PreRunE = func(*cobra.Command, []string) error {
		if list.Wanted.Limit < 0 {
			return Usage("--limit is less than 0", "0 shows all")
		}
		return nil
	}
	list.Filter = FilterFlag(a, c)
	list.ColumnsFlag = view.AddColumns(c, headers...)
	return &list
}

// Read returns what the flags select.
func (l *Listing) Read(a *App, from *ledger.Ledger) (wanted ledger.Wanted, err error) {
	wanted = l.Wanted
	wanted.Filter, err = Filter(a, from, l.Filter)
	return wanted, err
}
