package app

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/history"
)

// number returns the number that a name is, 0 for none.
func number(name string) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64)
	if err != nil || name[0] == '0' || name[0] == '+' {
		return 0
	}
	return max(n, 0)
}

// leastDigits is how long the start of a session's ID is at least if it has digits only: a shorter
// one is the number of a call.
const leastDigits = 8

// FindChains finds all chains of a task, or else one by the name, as c12, or the start of the ID of
// one of its sessions.
func FindChains(l *ledger.Ledger, name string) ([]ledger.ChainName, error) {
	chains, err := l.FindChains(name)
	switch {
	case err != nil:
		return nil, err
	case len(chains) == 0, number(name) > 0 && len(name) < leastDigits && chains[0].Task != name:
		return nil, NoChain(name)
	case len(chains) > 1 && chains[0].Task != name:
		return nil, several(name, chains)
	}
	return chains, nil
}

func several(name string, chains []ledger.ChainName) error {
	which := view.Mapped(chains, func(c ledger.ChainName) string {
		return fmt.Sprintf("c%d (%s)", c.ID,
			strings.Join(strings.Fields(c.Tool+" "+c.Task+" "+c.Role), " "))
	})
	return WithHint(fmt.Errorf("%q can be several chains: %s", name, strings.Join(which, ", ")),
		"give the name of one, or more of its session's ID")
}

// ChainWords names chains, several of them with their roles.
func ChainWords(chains []ledger.ChainName) string {
	return strings.Join(view.Mapped(chains, func(c ledger.ChainName) string {
		words := fmt.Sprintf("chain c%d", c.ID)
		if role := view.RoleName(c.Role); role != "" && len(chains) > 1 {
			words += " (" + role + ")"
		}
		return words
	}), " and of ")
}

// NoChain returns the error for a name that no chain has.
func NoChain(name string) error {
	return WithHint(fmt.Errorf("there is no chain %q", name),
		fmt.Sprintf("shimctl show lists them, as c12; of a session's ID give %d characters at "+
			"least", ledger.MinPrefix))
}

// FindCall finds a call by the number.
func FindCall(l *ledger.Ledger, name string) (ledger.Record, error) {
	n := number(name)
	if n == 0 {
		return ledger.Record{}, Usage(fmt.Sprintf("%q is not the number of a call", name),
			"shimctl log lists the calls")
	}
	i, found, err := history.FindCall(l, n)
	if err == nil && !found {
		err = WithHint(fmt.Errorf("find call %d: there is none", n), "shimctl log lists the calls")
	}
	return i, err
}
