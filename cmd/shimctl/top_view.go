package main

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/mattn/go-runewidth"
	"reprise/internal/ui"
	"reprise/ledger"
)

// A lineBuffer collects the lines that are printed to it.
type lineBuffer struct{ strings.Builder }

func (b *lineBuffer) lines() []string {
	text := strings.TrimSuffix(b.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// View draws the screen.
func (m *topModel) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	return v
}

// lines returns as many lines as the terminal has.
func (m *topModel) lines() []string {
	if m.width == 0 || m.height == 0 {
		return nil // its size is not known yet
	}
	frame := *m.app
	frame.now = m.shown
	lines := m.head(&frame)
	room := m.height - len(lines) - 1
	switch {
	case m.help:
		lines = append(lines, m.helpLines(&frame)...)
	case m.open != 0:
		lines = append(lines, m.callLines(&frame, room)...)
	default:
		lines = append(lines, m.runningLines(&frame, room/3)...)
		lines = append(lines, m.chainLines(&frame, m.height-len(lines)-1)...)
	}
	lines = lines[:min(len(lines), m.height-1)]
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return append(lines, m.foot())
}

// head returns the line about the saving, and one on each of the worst warnings.
func (m *topModel) head(frame *app) []string {
	saved := strings.Join(m.data.saved, "; ")
	switch {
	case m.data.err != nil:
		saved = "error: " + m.data.err.Error()
	case saved == "" && m.loaded:
		saved = "no managed call has been made today"
	}
	out := []string{m.cut(frame, ui.Strong, saved)}
	const most = 2
	for i, w := range m.data.warnings {
		if i == most {
			break
		}
		says := w.Says
		if more := len(m.data.warnings) - most; i == most-1 && more > 0 {
			says += fmt.Sprintf(" (and %d more in shimctl status)", more)
		}
		out = append(out, m.cut(frame, ui.Warn, "warning: "+says))
	}
	return append(out, "")
}

// cut paints a line that is cut to the width of the terminal.
func (m *topModel) cut(frame *app, meaning ui.Meaning, text string) string {
	return frame.stdout.Paint(meaning, runewidth.Truncate(ui.Printable(text), m.width, "~"))
}

// runningLines lists the running calls.
func (m *topModel) runningLines(frame *app, most int) []string {
	if len(m.data.running) == 0 {
		return nil
	}
	t := ui.NewTable("CALL", "FOR", "TOOL", "CHAIN", "DIRECTORY", "DECISION")
	for _, i := range m.data.running {
		t.Add(ui.IDCell(i.ID), ui.TextCell(ui.Duration(frame.now.Sub(i.Started.Time()))).As(ui.Warn), ui.TextCell(i.Tool), ui.IDCell(i.Chain), m.directoryCell(frame, i.Cwd), decisionCell(i))
	}
	title := "running calls"
	rows := m.rows(frame, t, m.width)
	if hidden := len(rows) - most; hidden > 0 {
		rows = rows[:max(1, most)]
		title += fmt.Sprintf(", %d of %d", len(rows)-1, len(m.data.running))
	}
	return append(append([]string{m.cut(frame, ui.Strong, title)}, rows...), "")
}

// rows returns the lines of a table, its header first.
func (m *topModel) rows(frame *app, t *ui.Table, width int) []string {
	var b lineBuffer
	t.Print(frame.screenOf(width, &b))
	return b.lines()
}

// wholePaths is the width of a terminal from which directories are shown with their path.
const wholePaths = 110

func (m *topModel) directoryCell(frame *app, path string) ui.Cell {
	if m.width < wholePaths {
		return ui.TextCell(filepath.Base(path))
	}
	return frame.pathCell(path)
}

const cursor = "> "

// chainLines lists the chains around the chosen one.
func (m *topModel) chainLines(frame *app, room int) []string {
	chains := m.chains()
	title := fmt.Sprintf("chains by %s", topOrders[m.order].name)
	if m.filter != "" || m.filtering {
		title += fmt.Sprintf(", only with %q", m.filter)
	}
	out := []string{m.cut(frame, ui.Strong, title)}
	if len(chains) == 0 {
		if m.loaded {
			out = append(out, "there is no such chain yet")
		}
		return out
	}
	at, most := m.at(chains), max(1, room-2)
	first := min(max(0, at-most/2), max(0, len(chains)-most))
	t := ui.NewTable("CHAIN", "TOOL", "DIRECTORY", "TASK", "CALLS", "WHEN", "LAST", "RESUMED", "CONTEXT")
	for _, c := range chains[first:min(len(chains), first+most)] {
		t.Add(ui.IDCell(c.ID), ui.TextCell(c.Tool), m.directoryCell(frame, c.Cwd), ui.TextCell(strings.TrimSpace(c.Task+" "+c.Role)), ui.NumberCell(int64(c.Calls)),
			frame.whenCell(c.Last.Started), decisionCell(c.Last), ui.NumberCell(int64(c.Resumed)), contextCell(newest(c).Context))
	}
	for i, line := range m.rows(frame, t, m.width-len(cursor)) {
		mark := strings.Repeat(" ", len(cursor))
		if i == at-first+1 {
			mark = cursor
		}
		out = append(out, mark+line)
	}
	return out
}

// callLines lists the calls of the chain that is open.
func (m *topModel) callLines(frame *app, room int) []string {
	title := fmt.Sprintf("calls of chain %d, the latest first", m.open)
	t := ui.NewTable("CALL", "WHEN", "DECISION", "OUTCOME", "TOOK", "COST", "INPUT", "CACHED", "OUTPUT")
	calls := m.data.calls[min(m.scroll, len(m.data.calls)):]
	for _, i := range calls[:min(len(calls), max(1, room-2))] {
		t.Add(callCells(frame, m.reporter, i)...)
	}
	return append([]string{m.cut(frame, ui.Strong, title)}, m.rows(frame, t, m.width)...)
}

func callCells(frame *app, r reporter, i ledger.Invocation) []ui.Cell {
	return []ui.Cell{ui.IDCell(i.ID), frame.whenCell(i.Started), decisionCell(i), outcomeCell(i), ui.DurationCell(i.Duration.NullInt64), priceCell(callCost(r.prices, i)),
		ui.TokensCell(i.Input.NullInt64), ui.TokensCell(i.CacheRead.NullInt64), ui.TokensCell(i.Output.NullInt64)}
}

func (m *topModel) helpLines(frame *app) []string {
	t := ui.NewFoldedTable("KEY", "EFFECT")
	for _, key := range topKeys {
		t.Add(ui.TextCell(key[0]), ui.TextCell(key[1]))
	}
	return m.rows(frame, t, m.width)
}

// foot returns the line of keys.
func (m *topModel) foot() string {
	words := "q leave  ? keys  enter calls  s sort  / filter  p pause"
	switch {
	case m.filtering:
		words = "/" + m.filter + "_  enter keeps the filter, esc drops it"
	case m.help:
		words = "any key goes back"
	case m.open != 0:
		words = "esc back  q leave  ? keys"
	}
	if m.paused {
		words = "PAUSED, p goes on  " + words
	}
	return m.cut(m.app, ui.Dim, words)
}
