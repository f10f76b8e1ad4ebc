package main

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"reprise/internal/ui"
	"reprise/ledger"
)

func topCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "top", Short: "watch running calls, chains and the saving",
		Long: `Shows what resuming saved today, warnings, the running calls and the chains used last, and keeps them up to date.
Press ? for the keys: choose a chain and list its calls, sort, filter, pause.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.top() },
	}
}

func (a *app) top() error {
	term := a.getenv("TERM")
	if !a.stdout.Terminal || !isatty.IsTerminal(a.stdin.Fd()) || term == "" || term == "dumb" {
		return hinted{errors.New("top needs a terminal that can move its cursor"), "shimctl status shows the same once, shimctl tail follows the calls"}
	}
	list, err := a.loadPrices()
	if err != nil {
		return err
	}
	m := &topModel{app: a, reporter: reporter{list}, now: time.Now}
	defer m.close()
	_, err = tea.NewProgram(m, tea.WithInput(a.stdin), tea.WithEnvironment(a.environ)).Run()
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) {
		return context.Canceled
	}
	return err
}

// topChains is among how many of the chains used last top lets you choose.
const topChains = 200

// topData is what top shows at a moment.
type topData struct {
	version  int64    // of the ledger
	saved    []string // what was saved today, if there is anything to say
	warnings []warning
	running  []ledger.Invocation
	chains   []ledger.ChainRow
	calls    []ledger.Invocation // of the chosen chain, the latest first
	err      error
}

// read reads what is shown, with the calls of a chain, 0 for none. It opens the ledger once there is one.
func (m *topModel) read(chain int64) (d topData) {
	m.using.Lock()
	defer m.using.Unlock()
	a := *m.app
	a.now = m.now()
	if m.ledger == nil {
		if m.ledger, d.err = a.openLedger(); d.err != nil {
			m.ledger = nil
			if errors.Is(d.err, fs.ErrNotExist) {
				d.err = nil
			}
			return d
		}
	}
	d.err = a.readTop(m.ledger, m.reporter, chain, &d)
	return d
}

func (a *app) readTop(l *ledger.Ledger, r reporter, chain int64, d *topData) (err error) {
	now := ledger.Millis(a.now.UnixMilli())
	if d.version, err = l.DataVersion(); err != nil {
		return err
	}
	if d.saved, err = a.savedToday(l); err != nil {
		return err
	}
	cfg, wrong := a.configuration()
	jobs, err := l.JobSpendings(now)
	if err != nil {
		return err
	}
	d.warnings = slices.Concat(wrong, a.budgetWarnings(cfg, r, jobs))
	if d.running, err = l.RunningInvocations(now); err != nil {
		return err
	}
	if d.chains, err = l.Chains(ledger.Wanted{Limit: topChains}); err != nil || chain == 0 {
		return err
	}
	d.calls, err = l.LatestInvocations(ledger.Wanted{Filter: ledger.Filter{Chain: chain}, Limit: topChains})
	return err
}

// An order of the chains.
type topOrder struct {
	name string
	less func(a, b ledger.ChainRow) int // nil: as they are read, the last used first
}

var topOrders = []topOrder{
	{"last used", nil},
	{"calls", func(a, b ledger.ChainRow) int { return b.Calls - a.Calls }},
	{"resumed", func(a, b ledger.ChainRow) int { return b.Resumed - a.Resumed }},
	{"context", func(a, b ledger.ChainRow) int { return filled(b) - filled(a) }},
}

// filled returns how full a chain's session is, in per cent.
func filled(c ledger.ChainRow) int {
	if used := newest(c).Context; used.Limit > 0 {
		return int(100 * used.Used / used.Limit)
	}
	return 0
}

// topKeys are what people can press, for the help.
var topKeys = [][2]string{
	{"up, down, j, k", "choose a chain"},
	{"page up, page down, home, end", "go further"},
	{"enter", "list the chain's calls; esc goes back"},
	{"s", "sort by last use, calls, resumed calls or context"},
	{"/", "show only chains with this text in tool, task, role or directory; esc shows all"},
	{"p", "pause, and go on"},
	{"?", "show the keys"},
	{"q", "leave"},
}

// screenOf returns a screen like stdout whose lines are collected.
func (a *app) screenOf(width int, lines *lineBuffer) ui.Screen {
	return ui.Screen{Writer: lines, Terminal: true, Width: width, Colors: a.stdout.Colors, ASCII: a.stdout.ASCII}
}
