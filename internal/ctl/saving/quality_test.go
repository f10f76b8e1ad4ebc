package saving

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
)

// The prompts of a simulated loop: a long task and, round by round, rejections. Where the contract closes the prompt, a
// delta repeats it as its last section; where it does not, the newest rejection is the last section.
var (
	simulatedTask = "You are the coder of job %d.\n\n# Task\n\nWrite the parser.\n\n# Standards\n\n" + strings.Repeat("Keep functions small, and test each. ", 70)
	contract      = "\n\n# Contract\n\nEnd with the line DONE."
	rejection     = "\n\n## Rejection %d\n\nPart %d is wrong."
)

// A simulation is callers whose loops end when an agent has mended each part that a reviewer rejects.
type simulation struct {
	t      *testing.T
	l      *ledger.Ledger
	random *rand.Rand
	closes bool // the contract closes each prompt
	limits decide.Limits
	faulty bool // deltas lose their last section
	now    decide.Millis
}

// newSimulation opens a ledger with a key of its own, so that the same chains are held out each time.
func newSimulation(t *testing.T, seed uint64, limits decide.Limits) *simulation {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	db, err := sql.Open("sqlite3", path)
	if err == nil {
		_, err = db.Exec("UPDATE meta SET value = ? WHERE name = 'key'", fmt.Appendf(nil, "%032d", seed))
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	if l, err = ledger.Open(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	limits.TTL, limits.MaxAge, limits.ContextShare = 30*60_000, 24*3_600_000, 0.8
	return &simulation{t: t, l: l, random: rand.New(rand.NewPCG(seed, 0)), limits: limits, now: 1_800_000_000_000}
}

// mostRounds is when the caller gives up.
const mostRounds = 12

// job plays one loop.
func (s *simulation) job(n int) {
	wrong, rejections := 1+s.random.IntN(4), ""
	for round := range mostRounds {
		text := fmt.Sprintf(simulatedTask, n) + contract + rejections
		if s.closes {
			text = fmt.Sprintf(simulatedTask, n) + rejections + contract
		}
		sent := s.call(n, round, text)
		told := round == 0 || strings.Contains(sent, fmt.Sprintf("## Rejection %d", round))
		parsed := strings.Contains(sent, contract[2:]) || !s.closes || s.chance(0.25) // the answer has the form that the caller reads
		if round > 0 && told && parsed && s.chance(0.8) {
			wrong--
		}
		if wrong == 0 {
			return
		}
		rejections += fmt.Sprintf(rejection, round+1, wrong)
	}
}

func (s *simulation) chance(p float64) bool { return s.random.Float64() < p }

// call makes one call and returns what its agent is sent.
func (s *simulation) call(n, round int, text string) string {
	s.t.Helper()
	c := &ledger.Call{Tool: "claude", Cwd: "/project", Home: "/home", Format: rewrite.Text, Now: s.now, Prompt: prompt.New(text, s.l.Key()),
		Task: fmt.Sprint("job", n), Role: "coder", Limits: s.limits,
		Stored: func(string, string, decide.Stamp) decide.StoredState { return decide.StoredSame }}
	d, ticket, err := ledger.Begin(s.l, c)
	if err != nil {
		s.t.Fatal(err)
	}
	sent, id := text, fmt.Sprintf("%08d-0000-4000-8000-%012d", n, round)
	if d.Mode.Continues() {
		var whole bool
		if sent, whole = rewrite.ToResume(d.NativeID, c.Prompt, d.Continuity, d.Whole).Prompt(); !whole && s.faulty {
			sent = sent[:strings.LastIndex(sent, "\n#")]
		}
		id = d.NativeID
	}
	s.now += 60_000
	o := &ledger.Outcome{Now: s.now, Seen: rewrite.StreamState{ID: id, Final: true, Content: true, Answer: "I have done my best."}, File: "/f", Stamp: "1"}
	if err := s.l.Finish(ticket, o); err != nil {
		s.t.Fatal(err)
	}
	s.now += 60_000
	return sent
}

// Deltas that lose their last section are noticed within 40 chains, if chains are held out; sound ones are not.
func TestQualityNoticesAFaultInDeltas(t *testing.T) {
	for _, limits := range []decide.Limits{{HoldOut: 0.5}} {
		for _, closes := range []bool{false, true} {
			for _, faulty := range []bool{false, true} {
				for seed := range uint64(2) {
					s := newSimulation(t, seed, limits)
					s.closes, s.faulty = closes, faulty
					for n := range 40 {
						s.job(n)
					}
					courses, err := history.Courses(s.l, history.Filter{}, s.now+3_600_000)
					if err != nil || len(courses) != 40 {
						t.Fatalf("%d chains, %v", len(courses), err)
					}
					q := NewQuality(courses)
					if warnings := q.Warnings(); (len(warnings) > 0) != faulty {
						t.Errorf("%+v, contract last %v, faulty %v, seed %d: %q; resumed %+v, fresh %+v, delta %+v, whole %+v",
							limits, closes, faulty, seed, warnings, q.Resumed, q.Fresh, q.Delta, q.Whole)
					} else if faulty && seed == 0 {
						t.Log(warnings)
					}
				}
			}
		}
	}
}

// Where both sides are alike, a warning is rare.
func TestQualityWarnsSeldomWithoutCause(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	const trials = 5000
	wrong := 0
	for range trials {
		var courses []history.Course
		for n := range 2*MinQuality + random.IntN(60) {
			c := history.Course{Ended: true, Arm: []string{ledger.Control, ledger.Treated}[n%2], Calls: 2}
			for random.Float64() < 0.6 && c.Calls < mostRounds {
				c.Calls++
			}
			if random.Float64() < 0.2 {
				c.Failed = 1
			}
			courses = append(courses, c)
		}
		if len(NewQuality(courses).Warnings()) > 0 {
			wrong++
		}
	}
	t.Logf("%d warnings in %d comparisons of like with like", wrong, trials)
	if wrong > trials/100 {
		t.Errorf("%d warnings in %d comparisons of like with like", wrong, trials)
	}
}

// The sides, the weeks, and what does not count.
func TestNewQuality(t *testing.T) {
	course := func(arm string, resumed bool, calls int64) history.Course {
		return history.Course{Began: 1_800_000_000_000, Ended: true, Arm: arm, Resumed: resumed, Calls: calls, Tried: calls - 1, Millis: 1000 * calls}
	}
	changed, running := course(ledger.Control, true, 90), course("", true, 90)
	changed.Changed, running.Ended = true, false
	seen := []history.Course{course("", true, 3), course("", true, 5), course("", false, 2), changed, running}
	seen[0].FellBack, seen[1].Failed = 1, 2
	seen[2].Began += 7 * 86_400_000
	q := NewQuality(seen)
	r := q.Resumed
	if q.Measured || r.Chains != 2 || q.Fresh.Chains != 1 || r.Calls.Mean != 4 || r.Failed.Mean != 0.5 || r.Millis.Mean != 4000 ||
		r.Tried != 6 || r.FellBack != 1 || math.Abs(float64(r.Accepted.Mean)-5.0/6) > 1e-9 || q.Fresh.Calls.Low.Known() || q.Fresh.Calls.Mean != 2 {
		t.Errorf("%+v", q)
	}
	if len(q.Weeks) != 2 || q.Weeks[0].Monday != "2027-01-11" || q.Weeks[0].Resumed.Chains != 2 || q.Weeks[1].Fresh.Chains != 1 {
		t.Errorf("weeks %+v", q.Weeks)
	}
	// With chains held out only these and their like count.
	for range 2 {
		seen = append(seen, course(ledger.Control, false, 2), course(ledger.Treated, false, 7), course(ledger.Treated, true, 7))
	}
	if q = NewQuality(seen); !q.Measured || q.Resumed.Chains != 4 || q.Resumed.Calls.Mean != 7 || q.Fresh.Chains != 2 {
		t.Errorf("measured: %+v", q)
	}
	// Deltas are compared among the chains that were resumed.
	sent := func(arm string, resumed bool) history.Course {
		c := course("", resumed, 3)
		c.DeltaArm = arm
		return c
	}
	q = NewQuality([]history.Course{sent(ledger.WholePrompt, true), sent(ledger.DeltaPrompt, true), sent(ledger.DeltaPrompt, false)})
	if q.Whole.Chains != 1 || q.Delta.Chains != 1 {
		t.Errorf("deltas: %+v", q)
	}
}

// The intervals are as wide as a table of Student's distribution says.
func TestStudent(t *testing.T) {
	for degrees, want := range map[float64]float64{5: 2.571, 9: 2.262, 19: 2.093, 39: 2.023, 1e6: 1.960} {
		if got := student(degrees); math.Abs(got-want) > want/100 {
			t.Errorf("%v degrees: %v, want %v", degrees, got, want)
		}
	}
	var s sum
	for _, n := range []float64{2, 4, 4, 4, 5, 5, 7, 9, 3, 7} {
		s.add(n)
	}
	if m := s.mean(10); m.Mean != 5 || math.Abs(float64(m.High)-6.508) > 0.01 || math.Abs(float64(m.Low)-3.492) > 0.01 {
		t.Errorf("%+v", m)
	}
}
