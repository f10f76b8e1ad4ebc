package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/history"
	"reprise/internal/prices"
	"reprise/internal/ui"
	"reprise/ledger"
)

const allSchema = "shimctl.sessions.all/1"

type allSessionsReport struct {
	Schema   string             `json:"schema" doc:"name of this schema"`
	Sessions []keptSessionEntry `json:"sessions" doc:"the last used first"`
}

type keptSessionEntry struct {
	ID         string     `json:"id" doc:"the tool's own ID"`
	Tool       string     `json:"tool" doc:"name of the tool"`
	Chain      *int64     `json:"chain" doc:"its chain, null if it is not in the ledger"`
	Directory  string     `json:"directory,omitempty" doc:"working directory"`
	Model      string     `json:"model,omitempty" doc:"the model that answered last"`
	Version    string     `json:"version,omitempty" doc:"version of the tool"`
	Started    *time.Time `json:"started" doc:"when it started"`
	LastUsed   *time.Time `json:"last_used" doc:"when it was last used"`
	Turns      *int64     `json:"turns" doc:"prompts of the user"`
	Input      *int64     `json:"input_tokens" doc:"tokens neither read from nor written to a cache"`
	CacheRead  *int64     `json:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWrite *int64     `json:"cache_write_tokens" doc:"tokens written to the cache"`
	Output     *int64     `json:"output_tokens" doc:"tokens that the model wrote"`
	moneyReport
}

var keptColumns = []string{"SESSION", "TOOL", "CHAIN", "TURNS", "USED", "STARTED", "INPUT", "CACHED", "WRITTEN", "OUTPUT", "COST", "MODEL",
	"VERSION", "DIRECTORY"}

// allSessions lists what the tools have kept.
func (a *app) allSessions(l *ledger.Ledger, r reporter, list *listing) error {
	wanted, err := list.read(a, l)
	if err != nil {
		return err
	}
	if !wanted.OnlyPeriod() {
		return usageError{"--all goes with --since, --until, --tool and --directory only", "the tools know nothing of the rest"}
	}
	kept, err := ui.WithProgress(a.stderr, "reading the tools' sessions", func() ([]history.Session, error) { return a.readHistory(wanted.Tool) })
	if err != nil {
		return err
	}
	kept = slices.DeleteFunc(kept, func(s history.Session) bool { return !wanted.SelectsSession(s.Cwd, s.Updated) })
	slices.SortFunc(kept, func(x, y history.Session) int { return y.Updated.Compare(x.Updated) })
	if wanted.Limit > 0 {
		kept = kept[:min(len(kept), wanted.Limit)]
	}
	chains, err := chainsBySession(l, kept)
	if err != nil {
		return err
	}
	if list.asJSON {
		entry := func(s history.Session) keptSessionEntry { return r.keptSession(s, chains[s.ID]) }
		return a.stdout.PrintJSON(allSessionsReport{allSchema, mapped(kept, entry)})
	}
	if len(kept) == 0 {
		a.stderr.Notice("the tools have kept no such session")
		return nil
	}
	t := ui.NewTable(keptColumns...).Choose(list.names).
		Spare("VERSION", "STARTED", "WRITTEN", "CACHED", "OUTPUT", "INPUT", "MODEL", "COST", "CHAIN", "TURNS")
	for _, s := range kept {
		count := func(n int64) ui.Cell { return ui.TokensCell(sql.NullInt64{Int64: n, Valid: s.Counted}) }
		t.Add(ui.SessionCell(s.ID), ui.TextCell(s.Tool), ui.IDCell(chains[s.ID]),
			ui.TokensCell(sql.NullInt64{Int64: int64(s.Turns), Valid: s.Turns >= 0}),
			a.perhapsCell(s.Updated), a.perhapsCell(s.Started), count(s.Input), count(s.CacheRead), count(s.CacheWrite),
			count(s.Output), priceCell(r.costOfKept(s)), ui.TextCell(s.Model), ui.TextCell(s.Version), a.pathCell(s.Cwd))
	}
	t.Print(a.stdout)
	return nil
}

// perhapsCell returns a cell with a time, which may be unknown.
func (a *app) perhapsCell(t time.Time) ui.Cell {
	if t.IsZero() {
		return ui.UnknownCell()
	}
	return a.whenCell(ledger.Millis(t.UnixMilli()))
}

// chainsBySession finds the chains of those sessions that the ledger has.
func chainsBySession(l *ledger.Ledger, kept []history.Session) (map[string]int64, error) {
	chains := map[string]int64{}
	for _, s := range kept {
		rows, err := l.SessionsLike(s.ID)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			chains[s.ID] = row.Chain
		}
	}
	return chains, nil
}

// costOfKept returns what a session cost at list price. It had many requests, and the rates for
// long prompts may have applied to some.
func (r reporter) costOfKept(s history.Session) sum {
	p, ok := r.prices.Find(s.Model, s.Updated)
	if !ok || !s.Counted {
		return sum{}
	}
	u := prices.Usage{Input: s.Input, Cached: s.CacheRead, Write: s.CacheWrite, Output: s.Output}
	return listPrice(p, u, u.Input+u.Cached+u.Write > p.Long.Above)
}

func (r reporter) keptSession(s history.Session, chain int64) keptSessionEntry {
	e := keptSessionEntry{ID: s.ID, Tool: s.Tool, Chain: nonZero(chain), Directory: s.Cwd, Model: s.Model, Version: s.Version,
		moneyReport: moneyJSON(r.costOfKept(s), "list")}
	if !s.Started.IsZero() {
		e.Started = &s.Started
	}
	if !s.Updated.IsZero() {
		e.LastUsed = &s.Updated
	}
	if s.Turns >= 0 {
		turns := int64(s.Turns)
		e.Turns = &turns
	}
	if s.Counted {
		e.Input, e.CacheRead, e.CacheWrite, e.Output = &s.Input, &s.CacheRead, &s.CacheWrite, &s.Output
	}
	return e
}

// readHistory reads what is new in the tools' directories. A cache beside the ledger records
// how far they were read; without it everything is read again.
func (a *app) readHistory(tool string) ([]history.Session, error) {
	path, err := a.historyFile()
	if err != nil {
		return nil, err
	}
	var cache history.Cache
	text, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(text, &cache) != nil {
		cache = history.Cache{}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	kept, err := history.Read(a.getenv, tool, &cache)
	if err != nil {
		a.complain(err.Error(), "the other sessions are shown")
	}
	if now, err := json.Marshal(cache); err == nil && string(now) != string(text) {
		if err := writePrivately(path, now); err != nil {
			a.complain("remember what was read: "+err.Error(), "the next time all is read again")
		}
	}
	return kept, nil
}

func (a *app) historyFile() (string, error) {
	dir, err := config.StateDir(a.own)
	return filepath.Join(dir, "sessions.json"), err
}

// forgetHistory overwrites and removes the cache of the tools' sessions, if any
// session of a chain is in it.
func (a *app) forgetHistory(c ledger.ChainName) error {
	path, err := a.historyFile()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !slices.ContainsFunc(c.NativeIDs, func(id string) bool { return strings.Contains(string(text), id) }) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read sessions: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("forget sessions: %w", err)
	}
	_, err = f.Write(make([]byte, len(text)))
	if err = errors.Join(err, f.Sync(), f.Close(), os.Remove(path)); err != nil {
		return fmt.Errorf("forget sessions: %w", err)
	}
	return nil
}

// writePrivately writes a file that only the user can read, as a whole or not at all.
func writePrivately(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
