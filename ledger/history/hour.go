package history

import (
	"slices"

	"reprise/ledger"
	"reprise/rewrite"
)

// An HourRow is the saving by a cache of an hour for the calls of one tool, real or possible.
type HourRow struct {
	Tool   string  `json:"tool" doc:"name of the tool"`
	Calls  int64   `json:"calls" doc:"calls for which the provider was asked to keep the prompt for an hour"`
	Saved  float64 `json:"weighted_tokens_saved" doc:"what that saved their chains, negative if it cost more"`
	Chains int64   `json:"other_chains" doc:"other chains for which it would have been cheaper"`
	Missed float64 `json:"weighted_tokens_missed" doc:"what it would have saved these"`
}

// HourRows sums up the chains of the selected calls, by tool, of the tools that can ask the
// provider for an hour.
func HourRows(l *ledger.Ledger, f Filter) ([]HourRow, error) {
	where, args := f.where("i.")
	tools := slices.DeleteFunc(slices.Clone(rewrite.Names), func(name string) bool {
		tool, _ := rewrite.Lookup(name)
		return !tool.Descriptor().KeepsHour
	})
	chains, err := ledger.ListPauses(l,
		"SELECT i.chain_id FROM calls i WHERE (i.cache_hour OR i.idle >= 300000 "+
			"AND i.idle < 3600000) AND i.tool IN (SELECT value FROM json_each(?)) AND "+where,
		append([]any{ledger.EncodeJSON(tools)}, args...)...)
	var all []HourRow
	for _, p := range chains {
		if len(all) == 0 || all[len(all)-1].Tool != p.Tool {
			all = append(all, HourRow{Tool: p.Tool})
		}
		row := &all[len(all)-1]
		if p.Asked > 0 {
			row.Calls += p.Asked
			row.Saved += p.HourSaves()
			continue
		}
		p.Within = p.Again // tokens found all the same are no saving
		if saves := p.HourSaves(); saves > 0 {
			row.Chains++
			row.Missed += saves
		}
	}
	return all, err
}
