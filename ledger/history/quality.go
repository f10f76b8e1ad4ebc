package history

import (
	"database/sql"
	"fmt"

	"reprise/ledger"
	"reprise/ledger/decide"
)

// A Course is how the calls of a chain went whose first call ended well and that had another one. Until the second call all
// chains are alike, however they go on.
type Course struct {
	Began           decide.Millis
	Ended           bool   // it has had no call for an hour
	Resumed         bool   // the second call was resumed, or was to be
	Arm, DeltaArm   string // of the second call
	Changed         bool   // a later call is on another side, since the configuration was changed
	Calls           int64
	Failed          int64 // calls that failed or were killed
	Tried, FellBack int64 // resumes that were tried, and of these those that were given up for a fresh run
	Millis          int64 // of all calls together
}

// quietChain is how long a chain has had no call if it has ended.
const quietChain = hour

// Courses returns the courses of the chains that began in the filter's period, in no order. What the filter says of single
// calls does not count.
func Courses(l *ledger.Ledger, f Filter, now decide.Millis) (list []Course, err error) {
	f.Reason, f.Class, f.Outcome = "", "", ""
	where, args := f.selects("i.")
	var chain int64
	var c Course
	var last decide.Millis
	started := false // the chain's first call has ended well
	add := func() {
		if c.Calls > 1 {
			c.Ended = now-last > quietChain
			list = append(list, c)
		}
	}
	err = ledger.Each(l, fmt.Sprintf(`SELECT i.chain_id, i.started, (`+continued+`) * %d + (i.fell_back IS NOT NULL) * %d + coalesce(i.outcome = 'ok', 0) * %d
			+ coalesce(i.outcome IN ('failed', 'killed'), 0) * %d, coalesce(i.duration, 0), i.arm, i.delta_arm
		FROM chains c CROSS JOIN invocations i ON i.chain_id = c.id
		WHERE c.created >= ? AND `+managed+` AND %s ORDER BY c.id, i.id`, callContinues, callFellBack, callWell, callFailed, where), func(rows *sql.Rows) error {
		var call courseCall
		if err := rows.Scan(&call.chain, &call.started, &call.bits, &call.millis, &call.arm, &call.deltaArm); err != nil {
			return err
		}
		if call.chain != chain {
			add()
			chain, c, last, started = call.chain, Course{Began: call.started}, 0, call.bits&callWell != 0
		}
		if started {
			c.add(call)
			last = max(last, call.started+decide.Millis(call.millis))
		}
		return nil
	}, append([]any{f.Times().Since}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("follow chains: %w", err)
	}
	add()
	return list, nil
}

// What is read of a call, in one number: that is read faster than words.
const (
	callContinues = 1 << iota
	callFellBack
	callWell
	callFailed
)

type courseCall struct {
	chain         int64
	started       decide.Millis
	bits          int64
	millis        int64
	arm, deltaArm string
}

func (c *Course) add(call courseCall) {
	tried := call.bits&(callContinues|callFellBack) != 0
	switch c.Calls++; {
	case c.Calls == 2:
		c.Resumed, c.Arm, c.DeltaArm = tried, call.arm, call.deltaArm
	case c.Calls > 2:
		c.Changed = c.Changed || call.arm != c.Arm || call.deltaArm != c.DeltaArm
	}
	c.Millis += call.millis
	if call.bits&callFailed != 0 {
		c.Failed++
	}
	if tried {
		c.Tried++
	}
	if call.bits&callFellBack != 0 {
		c.FellBack++
	}
}
