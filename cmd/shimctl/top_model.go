package main

import (
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"reprise/ledger"
)

// topEvery is how often the screen is updated: times on it are relative.
const topEvery = time.Second

// A topModel is the state of the screen. Only one read runs at a time.
type topModel struct {
	app      *app
	reporter reporter
	now      func() time.Time
	using    sync.Mutex     // of ledger: a read may outlast the screen
	ledger   *ledger.Ledger // nil until there is one

	data          topData
	loaded        bool // data was read once
	reading       bool
	shown         time.Time // the moment that the screen shows
	width, height int

	paused, help bool
	filtering    bool // the filter is being typed
	filter       string
	order        int
	selected     int64 // the chosen chain, 0 for the first
	open         int64 // the chain whose calls are listed, 0 for none
	scroll       int   // of the list of calls
}

func (m *topModel) close() {
	m.using.Lock()
	defer m.using.Unlock()
	if m.ledger != nil {
		m.ledger.Close()
	}
}

type (
	tickMsg struct{}
	dataMsg topData
)

// Init starts the reading and the clock.
func (m *topModel) Init() tea.Cmd {
	m.shown = m.now()
	return tea.Batch(m.reload(), tick())
}

func tick() tea.Cmd { return tea.Tick(topEvery, func(time.Time) tea.Msg { return tickMsg{} }) }

// reload reads in the background, unless it is reading already.
func (m *topModel) reload() tea.Cmd {
	if m.reading {
		return nil
	}
	m.reading = true
	chain := m.open
	return func() tea.Msg { return dataMsg(m.read(chain)) }
}

// Update handles what happened.
func (m *topModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		if m.paused {
			return m, tick()
		}
		m.shown = m.now()
		return m, tea.Batch(m.reload(), tick())
	case dataMsg:
		m.reading = false
		if !m.paused || !m.loaded {
			m.data, m.loaded = topData(msg), true
		}
		if m.open != 0 && len(m.data.calls) == 0 && m.data.err == nil { // opened while it was reading
			return m, m.reload()
		}
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

func (m *topModel) press(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	switch {
	case name == "ctrl+c":
		return tea.Interrupt
	case m.filtering:
		m.typed(name, key.Text)
		return nil
	case m.help:
		m.help = false
		return nil
	}
	switch name {
	case "q":
		return tea.Quit
	case "?":
		m.help = true
	case "p":
		m.paused = !m.paused
	case "s":
		m.order = (m.order + 1) % len(topOrders)
	case "/":
		m.filtering, m.open = true, 0
	case "esc", "left", "h", "backspace":
		if m.open == 0 {
			m.filter = ""
		}
		m.open = 0
	case "enter", "right", "l":
		return m.openChain()
	default:
		m.move(name)
	}
	return nil
}

// typed takes a key of the filter.
func (m *topModel) typed(name, text string) {
	switch name {
	case "enter":
		m.filtering = false
	case "esc":
		m.filtering, m.filter = false, ""
	case "backspace":
		runes := []rune(m.filter)
		m.filter = string(runes[:max(0, len(runes)-1)])
	default:
		m.filter += text
	}
}

func (m *topModel) openChain() tea.Cmd {
	chains := m.chains()
	if m.open != 0 || len(chains) == 0 {
		return nil
	}
	m.open, m.scroll, m.data.calls = chains[m.at(chains)].ID, 0, nil
	return m.reload()
}

// move takes a key that moves the choice, or the list of calls.
func (m *topModel) move(name string) {
	page := max(1, m.height/2)
	by, known := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "home": -topChains, "end": topChains}[name]
	if !known {
		return
	}
	if m.open != 0 {
		m.scroll = min(max(0, m.scroll+by), max(0, len(m.data.calls)-1))
		return
	}
	if chains := m.chains(); len(chains) > 0 {
		m.selected = chains[min(max(0, m.at(chains)+by), len(chains)-1)].ID
	}
}

// chains returns the chains in the order chosen, without those that are filtered out.
func (m *topModel) chains() []ledger.ChainRow {
	chains := slices.Clone(m.data.chains)
	if m.filter != "" {
		part := strings.ToLower(m.filter)
		chains = slices.DeleteFunc(chains, func(c ledger.ChainRow) bool {
			return !strings.Contains(strings.ToLower(strings.Join([]string{c.Tool, c.Task, c.Role, m.app.tilde(c.Cwd)}, " ")), part)
		})
	}
	if less := topOrders[m.order].less; less != nil {
		slices.SortStableFunc(chains, less)
	}
	return chains
}

// at returns the index of the chosen chain.
func (m *topModel) at(chains []ledger.ChainRow) int {
	return max(0, slices.IndexFunc(chains, func(c ledger.ChainRow) bool { return c.ID == m.selected }))
}
