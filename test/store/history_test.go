package store_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// A kind of operation on a session.
type kind string

const (
	take        kind = "takes"
	abandon     kind = "takes, and cannot restore,"
	finish      kind = "leaves"
	maybeFinish kind = "may leave"
)

// An op is one operation of a run.
type op struct {
	kind    kind
	run     string
	session string
	state   string // the state that take resumes, "" for a new session, or that finish leaves
}

func (o op) String() string {
	return fmt.Sprintf("%s %s %q of %s", o.run, o.kind, o.state,
		o.session)
}

// The states of a session in a register, "" before all.
const (
	live    = "live "    // and a state
	running = "running " // and the run that has taken it
)

// model describes the allowed operations on a session, one after the other. The session begins with
// a run that takes it. It is resumed only from its current live state, and only the last run that
// took it makes it live again. So no state is resumed twice, and no replaced state is resumed.
var model = porcupine.NondeterministicModel{
	Partition: bySession,
	Init:      func() []any { return []any{""} },
	Step: func(state, input, _ any) []any {
		s, o := state.(string), input.(op)
		own := s == running+o.run
		switch {
		case o.kind == take && (o.state == "" && s == "" || o.state != "" && s == live+o.state):
			return []any{running + o.run}
		case o.kind == abandon && strings.HasPrefix(s, live):
			return []any{running + o.run}
		case o.kind == finish && own:
			return []any{live + o.state}
		case o.kind == maybeFinish && own:
			return []any{s, live + o.state}
		case o.kind == maybeFinish:
			return []any{s}
		default:
			return nil
		}
	},
}

// A history has the actions of runs on one task, sorted by the times when calls began and ended.
type history struct {
	mu  sync.Mutex
	now int64
	ops []porcupine.Operation
}

// tick returns the next moment.
func (h *history) tick() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now++
	return h.now
}

// never is when an operation returns that can still arrive.
const never = math.MaxInt64

func (h *history) add(o op, client int, began, ended int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: o, Call: began,
		Return: ended})
}

// judgeTimeout bounds the search for an order that explains a history.
const judgeTimeout = 20 * time.Second

// judge returns the fault of the history, "" for nothing. decided reports that there was time
// to find out.
func (h *history) judge() (wrong string, decided bool) {
	resumed := map[string]string{}
	for _, each := range h.ops {
		o := each.Input.(op)
		if o.kind != take || o.state == "" {
			continue
		}
		if other := resumed[o.state]; other != "" {
			return fmt.Sprintf("%s and %s resume the same state %q\n%s", other, o.run, o.state, h),
				true
		}
		resumed[o.state] = o.run
	}
	switch porcupine.CheckOperationsTimeout(model.ToModel(), h.ops, judgeTimeout) {
	case porcupine.Illegal:
		return "no order explains the history: a state is resumed that is not the last\n" +
			h.String(), true
	case porcupine.Unknown:
		return "", false
	default:
		return "", true
	}
}

// bySession returns the operations on each session.
func bySession(ops []porcupine.Operation) [][]porcupine.Operation {
	of := map[string][]porcupine.Operation{}
	for _, each := range ops {
		session := each.Input.(op).session
		of[session] = append(of[session], each)
	}
	return slices.Collect(maps.Values(of))
}

// String lists the operations by when they began.
func (h *history) String() string {
	var lines strings.Builder
	sort.Slice(h.ops, func(i, j int) bool { return h.ops[i].Call < h.ops[j].Call })
	for _, o := range h.ops {
		end := fmt.Sprint(o.Return)
		if o.Return == never {
			end = "..."
		}
		fmt.Fprintf(&lines, "%d-%s %v\n", o.Call, end, o.Input)
	}
	return lines.String()
}
