package ledger

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"

	"github.com/mattn/go-sqlite3"
)

// An Outcome is the end of a run, or of a turn of a conversation.
type Outcome struct {
	Now     decide.Millis
	Started decide.Millis // of a later turn, which the caller has sent in the same process
	Exit    int
	Signal  int                 // 0 unless it died by one
	Seen    rewrite.StreamState // the JSON has no texts
	// the output is a text as the tool writes it: only the exit code tells how the run ended
	Plain       bool
	Printed     bool            // something came on stdout
	Sent        int             // bytes of the prompt that the model was sent
	WholeReason reason.Code     // why a resumed session was sent the whole prompt
	File        string          // the session's file, "" if it was not found
	Stamp       decide.Stamp    // of the session after the run
	Resets      []string        // roles that lose their chains of the call's task by the answer
	Revision    decide.Revision // of the directory after the run
	// the files that the session's runs changed, as the run left them, for Request.WorkGone
	Left string
	// For a store: the session's files relative to the tool's home, and a function that returns
	// git's name of the directory's content after the run.
	Paths []string      `json:"-"`
	Tree  func() string `json:"-"`
}

// Good reports whether a session can be continued after such a run: the exit code was 0, the final
// event was seen and was no error, and the model has answered, with the last message.
func (o *Outcome) Good() bool { return o.ended() && o.Seen.Content && !o.Seen.Synthetic }

// ended reports whether the run ended as the tool ends a run that went well.
func (o *Outcome) ended() bool {
	s := &o.Seen
	return o.Exit == 0 && o.Signal == 0 && s.Final && !s.Failed && !s.WrongID && s.ID != ""
}

// Stopped reports whether the run failed only because of the caller's turn limit. The session can
// be continued.
func (o *Outcome) Stopped() bool {
	s := &o.Seen
	return s.TurnLimit && o.Signal == 0 && s.Final && !s.Synthetic && !s.WrongID &&
		s.Refusal == "" && s.ID != ""
}

// Unread reports whether only the exit code says that the run ended well: the output was not
// understood.
func (o *Outcome) Unread() bool {
	s := &o.Seen
	return o.Exit == 0 && o.Signal == 0 && o.Printed && !o.Plain && s.Refusal == "" &&
		s.Outside == "" && !s.WrongID &&
		(s.Malformed || !s.Final || s.ID == "")
}

// State returns the session's state after the run with its reason, and the run's outcome.
func (o *Outcome) State() (state decide.State, why reason.Code, outcome string) {
	s := &o.Seen
	switch {
	case o.Signal != 0:
		state, outcome = decide.Killed, "killed"
	case o.Stopped():
		state, why, outcome = decide.Live, reason.TurnLimit, "failed"
	case o.Unread():
		state, why, outcome = decide.Failed, reason.Unread, "unread"
	case o.Good(), o.Plain && o.Exit == 0 && !s.Failed:
		state, outcome = decide.Live, "ok"
	case o.ended() && !s.Content:
		state, why, outcome = decide.Failed, reason.NoAnswer, "failed"
	default:
		state, why, outcome = decide.Failed, s.Outside, "failed"
	}
	switch {
	case s.Refusal != "":
		state, why = decide.Dead, s.Refusal
	case state == decide.Live && s.Background:
		why = reason.BackgroundLeft
	}
	return state, why, outcome
}

// endings are the signals that callers, users and systems end a run with. Any other is the tool's
// own crash.
var endings = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}

// against returns a failed run's argument against the source of the session, "" for nothing.
func (o *Outcome) against() reason.Code {
	s := &o.Seen
	if s.Refusal == reason.ControlRequest { // the caller has changed the copy
		return ""
	}
	if s.Refusal == "" && (s.Outside != "" || slices.Contains(endings, syscall.Signal(o.Signal))) {
		return ""
	}
	if o.Unread() {
		return reason.Unread
	}
	return cmp.Or(s.Refusal, reason.Unexplained)
}

// endTimeout is how long an outcome waits for other calls: many that end at once must not keep
// those waiting that start.
const endTimeout = 200 * time.Millisecond

// An Ending is everything that is recorded at the end of a run. It names the ledger, which
// another one might have replaced by the time it is recorded.
type Ending struct {
	Ledger string
	// the call, unless its end is recorded already, and a call for each later turn
	Calls []savedRecord
	// the call's end is recorded: only the later turns are news, or the state of the session
	Finished      bool
	Chain         int64
	Session       int64 // 0 if there is none
	Cwd, Task     string
	Project       string
	Ended, Failed int // how many of the calls ended well, and did not
	Resets        []string
	// digests of the prompt that the session was sent, and of its answers and files
	News        Session
	AnswerLines []byte
	Outcome     Outcome // of the latest turn
}

// Finish records how the run ended and releases the lease, given the outcome of each turn: of most
// runs one. The call's prompt is then all that the session was sent. Finish records each later turn
// as an observed call of the same session. If the ledger is not free in time, or cannot be written,
// it keeps the outcome in the spool for the next process that writes.
func (l *Ledger) Finish(t *Ticket, turns ...*Outcome) error {
	e := l.Ending(t, turns)
	wait := endTimeout
	if t.ID == 0 { // it has waited for the ledger before
		wait = 0
	}
	err := l.writeWithin(wait, e.record)
	if err == nil {
		return nil
	}
	if kept := l.spool.put(e.Outcome.Now, EncodeJSON(e)); kept != nil {
		return fmt.Errorf("record outcome: %w", errors.Join(err, kept))
	}
	return nil
}

// FinishEarly is Finish for a run with turns that are over while the tool still runs. If it fails,
// it keeps nothing: Finish will record the outcome.
func (l *Ledger) FinishEarly(t *Ticket, turns ...*Outcome) error {
	e := l.Ending(t, turns)
	err := l.write(e.record)
	if err == nil {
		t.Recorded = len(turns)
	}
	return Wrap("record turns", Explain(err))
}

// Ending returns everything that a run leaves to record. The texts are in it only as digests: of the
// turns' answers, and of the files and names that they touched.
func (l *Ledger) Ending(t *Ticket, turns []*Outcome) Ending {
	e := Ending{Ledger: l.name(), Session: t.Session, Chain: t.Chain, Cwd: t.call.Cwd,
		Project: t.call.Project, Task: t.call.Task,
		News: Session{Transcript: t.transcript}, Finished: t.Recorded > 0,
		Outcome: *turns[len(turns)-1]}
	var answers, files []string
	own := turns[0]
	for _, o := range turns[t.Recorded:] {
		r, s := t.Record, &o.Seen
		if o != own {
			r = r.observed("", o.Started, o.Sent)
		}
		r.end(o)
		e.Calls, e.Resets = append(e.Calls, savedRecord{r}), append(e.Resets, o.Resets...)
		if r.Outcome == "ok" || o.Stopped() {
			e.Ended++
		} else {
			e.Failed++
		}
		// the newest are kept
		answers, files = append(answers, s.Answer), slices.Concat(s.Files, files)
		if t.Session != 0 {
			answer := prompt.NewAnswer(s.Answer, s.Texts, t.key)
			e.News.Answers = append(e.News.Answers, encodeAnswer(answer)...)
			e.News.Said = append(e.News.Said, encodeSaid(answer)...)
		}
	}
	if t.call.Prompt != nil {
		e.News.send(t.call.Prompt)
		changed := changedFiles(e.Outcome.Left)
		traces := prompt.NewTraces(t.call.Prompt, answers, files, changed, t.key)
		e.News.Things, e.AnswerLines = encodeMarks(traces.Things), encodeMarks(traces.Lines)
	}
	return e
}

// record records the end of the run in the call and in the session, and releases the lease.
func (e *Ending) record(tx *sql.Tx) error {
	o := &e.Outcome
	if e.Finished && len(e.Calls) == 0 {
		_, err := tx.Exec("UPDATE sessions SET file = nullif(?, ''), stamp = nullif(?, '') WHERE "+
			"id = ?", o.File, o.Stamp,
			e.Session)
		return err
	}
	for i, r := range e.Calls {
		if first, err := r.save(tx); err != nil || !first {
			return err
		}
		if i == 0 && !e.Finished && o.Good() {
			if err := e.recordAnswer(tx, r.ID); err != nil {
				return err
			}
		}
	}
	if err := resetRoles(tx, e.Cwd, e.Task, e.Resets); err != nil {
		return err
	}
	if e.Session == 0 {
		return callersOwn(tx, o.Seen.ID) // of an observed call; any other has a new session
	}
	return e.finishSession(tx)
}

// finishSession records the end in the session, and releases the lease.
func (e *Ending) finishSession(tx *sql.Tx) error {
	chain, err := loadChain(tx, e.Session, "id = ?", e.Chain)
	if err != nil || chain == nil || chain.at(e.Session) == nil { // it was removed
		return err
	}
	if err := chain.Finish(e.Session, e); err != nil {
		return err
	}
	if err := chain.save(tx, ""); err != nil {
		return err
	}
	_, err = tx.Exec("DELETE FROM leases WHERE session_id = ?", e.Session)
	return err
}

// RecordSpooled records the outcomes in the spool. An outcome that cannot be recorded although the
// ledger can be written is dropped, so that the others are recorded.
func (l *Ledger) RecordSpooled() error {
	for {
		settled, err := l.settleSome()
		if err != nil {
			return fmt.Errorf("record outcomes: %w", err)
		}
		if settled < maxSpooled {
			return nil
		}
	}
}

// settleSome records outcomes, each exactly once, and returns how many it has removed from the
// spool.
func (l *Ledger) settleSome() (removed int, err error) {
	if len(l.spool.list()) == 0 {
		return 0, nil
	}
	err = l.withLock(callsTimeout, func() error {
		for _, path := range l.spool.list() { // another process might have been faster
			if err := l.settle(path); err != nil {
				return err
			}
			if os.Remove(path) == nil {
				removed++
			}
		}
		return nil
	})
	return removed, err
}

// settle records an outcome. An outcome that the ledger does not take is dropped. The ledger keeps
// the names of the latest: a process can die before it has removed the file.
func (l *Ledger) settle(path string) error {
	var e Ending
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &e) != nil || e.Ledger != l.name() {
		return nil
	}
	err = l.transact(func(tx *sql.Tx) error {
		name, settled := filepath.Base(path), ""
		err := tx.QueryRow("SELECT coalesce((SELECT value FROM meta WHERE name = 'settled'), '')").
			Scan(&settled)
		names := strings.Fields(settled)
		if err != nil || slices.Contains(names, name) {
			return err
		}
		names = append(names[max(0, len(names)-maxSpooled):], name)
		if _, err := tx.Exec("INSERT OR REPLACE INTO meta VALUES ('settled', ?)",
			[]byte(strings.Join(names, " "))); err != nil {
			return err
		}
		return e.record(tx)
	})
	var failed sqlite3.Error
	if errors.As(err, &failed) && failed.Code != sqlite3.ErrConstraint &&
		failed.Code != sqlite3.ErrTooBig && failed.Code != sqlite3.ErrMismatch {
		return err // the ledger is busy, the disk full or broken
	}
	return nil
}

// changedFiles returns the paths in an Outcome.Left.
func changedFiles(left string) (paths []string) {
	var files []struct{ Path string }
	if json.Unmarshal([]byte(left), &files) != nil {
		return nil
	}
	for _, f := range files {
		if f.Path != "" {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
