package ledger

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"reflect"
	"sync"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A Number is a figure that might be unknown. JSON has null for it then.
type Number struct{ sql.NullInt64 }

// MarshalJSON returns the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	return json.Marshal(n.Int64)
}

// UnmarshalJSON reads a number or null.
func (n *Number) UnmarshalJSON(text []byte) error {
	n.Valid = string(text) != "null"
	return json.Unmarshal(text, &n.Int64)
}

// known returns a number, or an unknown one.
func known(ok bool, n int64) Number { return Number{sql.NullInt64{Int64: n, Valid: ok}} }

// A Record is a call as it is saved and as it is shown. It grows: first the call is asked, then
// decided, then it has ended. Each field is named here and nowhere else: db is the column (see
// table), json and doc are the JSON of each list of calls; these names never change. In JSON, a
// number that is not known is null, and a word that is not known, or missing, is left out.
type Record struct {
	// 0 until it is saved
	ID int64 `db:"id INTEGER PRIMARY KEY AUTOINCREMENT" json:"id" doc:"its number"`
	// 0 if it belongs to none
	Chain int64 `db:"chain_id INTEGER REFERENCES chains (id) ON DELETE CASCADE" json:"-"`
	// likewise
	Session int64 `db:"session_id INTEGER" json:"-"`

	// Asked.
	Tool        string         `db:"tool" json:"tool" doc:"name of the tool"`
	Cwd         string         `db:"cwd" json:"directory" doc:"its working directory"`
	Task        string         `db:"ic.task" json:"task,omitempty" doc:"name of the job"`
	Role        string         `db:"ic.role" json:"role,omitempty" doc:"part in the job"`
	Rule        string         `db:"rule" json:"rule,omitempty" doc:"the rule that matched"`
	Caller      decide.Caller  `db:"caller" json:"-"` // the processes above it
	Format      rewrite.Format `db:"format" json:"format" doc:"the requested output format"`
	Started     decide.Millis  `db:"started" json:"-"`
	PromptBytes int64          `db:"prompt_bytes" json:"prompt_bytes" doc:"length of the caller's prompt"`
	Unshared    string         `db:"unshared" json:"unshared,omitempty" doc:"why no store shares its session"`

	// Decided.
	Mode    rewrite.Mode `db:"mode" json:"mode" doc:"resume, fork, fresh or observe"`
	Reason  reason.Code  `db:"reason" json:"reason" doc:"the reason"`
	Detail  reason.Code  `db:"detail" json:"detail,omitempty" doc:"detail of the reason"`
	Changed []string     `db:"changed" json:"changed,omitempty" doc:"settings, variables or files that changed"`
	// the evidence that it continued a session
	Evidence decide.Evidence `db:"evidence" json:"-"`
	Arm      string          `db:"arm" json:"arm,omitempty" doc:"control or treated, where a rule holds chains out"`
	// the provider was asked to keep the prompt for an hour
	Hour        bool   `db:"cache_hour" json:"-"`
	ResumedFrom string `db:"resumed_from TEXT" json:"resumed_from,omitempty" doc:"the session to go on with"`
	// of a resumed call: how long its session had not been used, in ms
	Idle Number `db:"idle INTEGER" json:"-"`
	// likewise: the tokens that it had been sent
	HeldTokens  Number      `db:"held_tokens INTEGER" json:"-"`
	FellBack    reason.Code `db:"fell_back TEXT" json:"fell_back,omitempty" doc:"why a resume was refused"`
	SentBytes   int64       `db:"sent_bytes" json:"sent_bytes" doc:"length of what the model was sent"`
	WholeReason reason.Code `db:"whole_reason" json:"whole_reason,omitempty" doc:"why a resume sent the whole prompt"`

	// Ended.
	Duration  Number `db:"duration INTEGER" json:"duration_ms" doc:"duration, null while it runs"`
	NativeID  string `db:"native_id TEXT" json:"session,omitempty" doc:"the session that the call ended in"`
	IDSource  string `db:"id_source TEXT" json:"-"` // where the tool gave it
	Requested string `db:"si.model" json:"requested_model,omitempty" doc:"the model that was asked for"`
	Model     string `db:"model TEXT" json:"model,omitempty" doc:"the model that answered"`

	Input      Number `db:"input INTEGER" json:"input_tokens" doc:"tokens neither read from nor written to a cache"`
	CacheRead  Number `db:"cache_read INTEGER" json:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWrite Number `db:"cache_write INTEGER" json:"cache_write_tokens" doc:"tokens written to the cache"`
	Output     Number `db:"output INTEGER" json:"output_tokens" doc:"tokens that the model wrote"`
	// Tokens of the first request, if the tool reports more than sums
	FirstPrompt Number `db:"first_prompt INTEGER" json:"-"`
	// of these, those from the provider's cache
	FirstRead Number `db:"first_read INTEGER" json:"-"`
	Cost      Number `db:"cost INTEGER" json:"-"` // nano-dollars, as the tool reported it
	// ok, failed, unread, killed; "" while it runs
	Outcome string `db:"outcome TEXT" json:"-"`
	// The reason why the session is not to be continued, if that says more.
	SessionWhy reason.Code `db:"si.state_why" json:"-"`
	Exit       Number      `db:"exit_code INTEGER" json:"exit" doc:"exit status of the tool, null while it runs"`
	Signal     Number      `db:"signal INTEGER" json:"signal" doc:"the signal that ended it, or null"`
}

var records = newTable[Record]("calls")

// RecordTables are the tables of RecordColumns: the calls i, the chain ic and the session si of
// each.
const RecordTables = "calls i LEFT JOIN chains ic ON ic.id = i.chain_id LEFT JOIN sessions si " +
	"ON si.id = i.session_id"

// RecordColumns returns SQL that selects calls from RecordTables.
func RecordColumns() string { return records.columns("i") }

// RecordFields returns the destinations of RecordColumns.
func RecordFields(r *Record) []any { return records.fields(r) }

// maxFigure exceeds the use of any call, in tokens and in nano-dollars: a million dollars. Nine
// thousand of them still add up without overflow.
const maxFigure = 1e15

// plausible limits a figure reported by a tool, so that sums cannot overflow.
func plausible(is bool, n int64) Number { return known(is, min(max(n, 0), maxFigure)) }

func (r *Record) end(o *Outcome) {
	s, u, first := &o.Seen, &o.Seen.Usage, &o.Seen.First
	_, _, r.Outcome = o.State()
	r.Duration, r.Exit, r.Signal = known(true, int64(o.Now-r.Started)), known(true, int64(o.Exit)),
		known(o.Signal != 0,
			int64(o.Signal))
	r.NativeID, r.IDSource, r.Model = s.ID, s.Source, s.Model
	r.SentBytes, r.WholeReason = int64(o.Sent), o.WholeReason
	r.Input, r.CacheRead = plausible(u.Known, u.Input), plausible(u.Known, u.CacheRead)
	r.CacheWrite, r.Output = plausible(u.Known, u.CacheWrite), plausible(u.Known, u.Output)
	r.Cost, r.FirstRead = plausible(u.CostKnown, u.CostNano),
		plausible(first.Known, first.CacheRead)
	r.FirstPrompt = plausible(first.Known, first.Input+first.CacheRead+first.CacheWrite)
}

// observed returns a call or turn of a session that the caller manages.
func (r Record) observed(why reason.Code, started decide.Millis, bytes int) Record {
	return Record{Chain: r.Chain, Session: r.Session, Tool: r.Tool, Cwd: r.Cwd, Rule: r.Rule,
		Format:  r.Format,
		Started: started,
		Mode:    rewrite.Observe, Reason: cmp.Or(why, reason.CallerSession),
		PromptBytes: int64(bytes), SentBytes: int64(bytes)}
}

// unended holds for a call without a recorded end: it has no duration, even if it was taken for
// lost.
const unended = " AND duration IS NULL"

// save saves the call. It reports whether it had no end yet.
func (r *Record) save(tx *sql.Tx) (first bool, err error) {
	if r.ID == 0 {
		r.ID, err = records.put(tx, r)
		return true, err
	}
	n, err := records.set(tx, r.ID, r, unended)
	return n > 0, err
}

// A savedRecord is a call outside the ledger, until its end is recorded. The JSON has all fields by
// their names in Go: the tags are for lists that people read.
type savedRecord struct{ Record }

var untaggedRecord = sync.OnceValue(func() reflect.Type {
	fields := reflect.VisibleFields(reflect.TypeFor[Record]())
	for i := range fields {
		fields[i].Tag = ""
	}
	return reflect.PointerTo(reflect.StructOf(fields))
})

func (r *savedRecord) untagged() any {
	return reflect.ValueOf(&r.Record).Convert(untaggedRecord()).Interface()
}

// MarshalJSON implements json.Marshaler.
func (r *savedRecord) MarshalJSON() ([]byte, error) { return json.Marshal(r.untagged()) }

// UnmarshalJSON implements json.Unmarshaler.
func (r *savedRecord) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, r.untagged()) }
