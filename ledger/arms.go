package ledger

import (
	"encoding/binary"
	"fmt"

	"reprise/rewrite/prompt"
)

// The arms of the comparison that a control group allows.
const (
	Control = "control" // held out
	Treated = "treated"
)

// bucket maps a chain to a fixed number from 0 to 1, so that the choice of held-out chains does not
// depend on when they are read.
func bucket(key prompt.Key, chain int64) float64 {
	d := key.Digester()(fmt.Sprintf("share of chain %d", chain))
	return float64(binary.BigEndian.Uint64(d[:])>>11) / (1 << 53)
}

// Share returns the number from 0 to 1 that decides whether a chain is held out. known is false for
// a chain of a store, which the store numbers.
func (l *Ledger) Share(chain int64) (share float64, known bool, err error) {
	shared, err := l.IsLent(chain)
	return bucket(l.key, chain), err == nil && !shared, err
}

// arm returns the side of the comparison that the call's chain is on, "" if there is no control
// group.
func (t *Ticket) arm() string {
	holdOut := t.call.Limits.HoldOut
	if t.Chain == 0 || holdOut <= 0 || holdOut >= 1 {
		return ""
	}
	share := bucket(t.key, t.Chain)
	if t.Loan != nil {
		share = t.Loan.Share
	}
	if share < holdOut {
		return Control
	}
	return Treated
}
