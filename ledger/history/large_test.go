package history

import "testing"

// BenchmarkLarge asks a ledger of a million calls, in 100 000 chains, the questions of shimctl.
func BenchmarkLarge(b *testing.B) {
	l, path := newLedger(b)
	fill(b, path, 1_000_000)
	for name, ask := range map[string]func() error{
		"Slices": func() error { _, err := Slices(l, Filter{}, 100_000); return err },
		"SlicesLate": func() error {
			_, err := Slices(l, Filter{Since: 900_000_000}, 100_000)
			return err
		},
		"Calls": func() error { _, err := LatestCalls(l, Query{Limit: 50}); return err },
		"OfTool": func() error {
			_, err := LatestCalls(l, Query{Filter: Filter{Tool: "vibe"}, Limit: 50})
			return err
		},
		"Chains": func() error { _, err := Chains(l, Query{Limit: 50}); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStats asks a ledger of a million calls the questions of shimctl stats.
func BenchmarkStats(b *testing.B) {
	l, path := newLedger(b)
	fill(b, path, 1_000_000)
	for _, by := range Bys {
		b.Run("by="+string(by), func(b *testing.B) {
			for b.Loop() {
				if groups, err := Groups(l, by, Filter{}, 100_000, 0); err != nil ||
					len(groups) == 0 {
					b.Fatal(groups, err)
				}
			}
		})
	}
	b.Run("arms", func(b *testing.B) {
		for b.Loop() {
			if arms, err := Arms(l, Filter{}); err != nil || len(arms) == 0 {
				b.Fatal(err)
			}
		}
	})
}
