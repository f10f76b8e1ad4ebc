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
	chains := map[int64]*course{}
	var all []*course
	err = ledger.Each(l, fmt.Sprintf(`SELECT i.chain_id, i.started, coalesce(i.duration, 0), (`+continued+`) * %d + (i.fell_back IS NOT NULL) * %d
			+ coalesce(i.outcome = 'ok', 0) * %d + coalesce(i.outcome IN ('failed', 'killed'), 0) * %d
			+ (i.arm = ?) * %d + (i.arm = ?) * %d + (i.delta_arm = ?) * %d + (i.delta_arm = ?) * %d
		FROM invocations i JOIN chains c ON c.id = i.chain_id WHERE c.created >= ? AND `+managed+` AND %s ORDER BY i.id`,
		callContinues, callFellBack, callWell, callFailed, callControl, callTreated, callWhole, callDelta, where), func(rows *sql.Rows) error {
		var chain, started, millis, bits int64
		if err := rows.Scan(&chain, &started, &millis, &bits); err != nil {
			return err
		}
		c := chains[chain]
		if c == nil {
			c = &course{Course: Course{Began: decide.Millis(started)}, began: bits&callWell != 0}
			chains[chain], all = c, append(all, c)
		}
		c.add(bits, millis)
		c.last = max(c.last, decide.Millis(started+millis))
		return nil
	}, append([]any{ledger.Control, ledger.Treated, ledger.WholePrompt, ledger.DeltaPrompt, f.Times().Since}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("follow chains: %w", err)
	}
	for _, c := range all {
		if c.began && c.Calls > 1 {
			c.Ended = now-c.last > quietChain
			list = append(list, c.Course)
		}
	}
	return list, nil
}

// What is read of a call, in one number: that is read faster than words.
const (
	callContinues = 1 << iota
	callFellBack
	callWell
	callFailed
	callControl
	callTreated
	callWhole
	callDelta
	callSide = callControl | callTreated | callWhole | callDelta
)

// sides are the words for the arms.
var sides = map[int64]string{callControl: ledger.Control, callTreated: ledger.Treated, callWhole: ledger.WholePrompt, callDelta: ledger.DeltaPrompt}

// A course is a Course whose calls are being read.
type course struct {
	Course
	began bool  // its first call has ended well
	side  int64 // of the second call
	last  decide.Millis
}

func (c *course) add(bits, millis int64) {
	tried := bits&(callContinues|callFellBack) != 0
	switch c.Calls++; {
	case c.Calls == 2:
		c.Resumed, c.side = tried, bits&callSide
		c.Arm, c.DeltaArm = sides[bits&(callControl|callTreated)], sides[bits&(callWhole|callDelta)]
	case c.Calls > 2:
		c.Changed = c.Changed || bits&callSide != c.side
	}
	c.Millis += millis
	if bits&callFailed != 0 {
		c.Failed++
	}
	if tried {
		c.Tried++
	}
	if bits&callFellBack != 0 {
		c.FellBack++
	}
}
