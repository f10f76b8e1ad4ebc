package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"reprise/test/harness"
	"reprise/test/sample"
)

// screenCalls are the calls in the ledger for the measured screens: of a month, some of them of
// today. With -scale it is the large ledger instead.
const screenCalls = 20_000

// screens lists the commands that a person reads. All but report, which adds up every call, should
// come at once.
var screens = []string{"status", "log", "show", "show c100", "show 100", "why",
	"stats", "stats --by day", "stats --by cwd",
	"stats --by task", "doctor", "why -- claude -p Hello", "report -o -"}

// screens measures them.
func (b *bench) screens() error {
	const state = ".local/screens"
	path := filepath.Join(b.dir, state, "reprise/ledger.db")
	if err := sample.Write(path, int(b.shown), false); err != nil {
		return err
	}
	if err := age(path); err != nil {
		return err
	}
	shimctl := filepath.Join(b.bin, "shimctl")
	calls := map[string]call{"direct": {path: shimctl, args: []string{"version"}}}
	for _, screen := range screens {
		calls[screen] = call{path: shimctl, args: strings.Fields(screen), state: state}
	}
	return b.compare(screenTitle, max(b.rounds/20, 5), calls)
}

const screenTitle = "a screen"

// slowestScreen returns the time of the slowest screens.
func (b *bench) slowestScreen() (slowest cost) {
	for _, c := range b.costs[screenTitle] {
		slowest = cost{max(slowest.wall, c.wall), max(slowest.cpu, c.cpu)}
	}
	return slowest
}

// age makes the sample end now, numbers its calls in the order of time, and adds the sessions'
// facts to calls.
func age(path string) error {
	if err := harness.AgeLedger(path, -time.Since(sample.Now)); err != nil {
		return err
	}
	return withLedger(path, func(db *sql.DB) error {
		for _, query := range []string{
			"UPDATE calls SET id = -id",
			"CREATE TABLE numbers AS " +
				"SELECT id, row_number() OVER (ORDER BY started) AS number FROM calls",
			"CREATE INDEX numbered ON numbers (id)",
			"UPDATE calls SET id = (SELECT number FROM numbers n WHERE n.id = calls.id)",
			"DROP TABLE numbers",
			`UPDATE calls SET native_id = (SELECT native_id FROM sessions WHERE id = session_id), first_prompt = input + cache_read / 2, first_read = cache_read / 2,
			idle = iif(mode = 'resume', id * 7919 % 1000000, NULL), held_tokens = iif(mode = 'resume', cache_read / 2, NULL)`,
			"UPDATE calls SET resumed_from = native_id WHERE mode = 'resume'",
		} {
			if _, err := db.Exec(query); err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
		}
		return nil
	})
}
