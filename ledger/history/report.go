package history

import (
	"cmp"
	"database/sql"
	"fmt"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A ChainRow is a chain for display: with the newest session and the latest call.
type ChainRow struct {
	ID       int64         `json:"id" doc:"its number"`
	Tool     string        `json:"tool" doc:"name of the tool"`
	Cwd      string        `json:"directory" doc:"working directory of its calls"`
	Task     string        `json:"task,omitempty" doc:"name of the job"`
	Role     string        `json:"role,omitempty" doc:"part in the job"`
	Created  decide.Millis `json:"-"`
	Updated  decide.Millis `json:"-"`
	Calls    int           `json:"calls" doc:"its calls"`
	Resumed  int           `json:"resumed" doc:"resumed calls"`
	Sessions []SessionRow  `json:"-"` // the newest first
	Last     ledger.Record `json:"-"`
}

// A SessionRow is a session for display.
type SessionRow struct {
	ID        int64           `json:"-"`
	NativeID  string          `json:"id" doc:"the tool's own ID, empty while unknown"`
	Tool      string          `json:"tool" doc:"name of the tool"`
	Chain     int64           `json:"chain" doc:"its chain"`
	State     decide.State    `json:"state" doc:"running, live (it can be resumed), expired, failed, killed or dead"`
	Why       reason.Code     `json:"why,omitempty" doc:"why it is dead or failed, or might be"`
	Reset     bool            `json:"reset" doc:"whether an answer or shimctl reset ended it"`
	Held      bool            `json:"busy" doc:"whether a process uses it"`
	Parent    string          `json:"forked_from,omitempty" doc:"the session that it is a copy of"`
	Version   string          `json:"version,omitempty" doc:"version of the tool"`
	Model     string          `json:"model,omitempty" doc:"the model asked for"`
	Answered  string          `json:"-"` // the model that the tool named, "" if not known
	Turns     int             `json:"turns" doc:"calls of it that ended well"`
	Context   rewrite.Context `json:"-"`
	Created   decide.Millis   `json:"-"`
	LastUsed  decide.Millis   `json:"-"`
	BaseBytes int             `json:"-"` // length of the text that it was sent last
}

// Chains returns the chains, the most recently used first.
func Chains(l *ledger.Ledger, w Query) ([]ChainRow, error) {
	where, args := w.where("k.")
	chains, err := ledger.List(l, `
		SELECT c.id, c.tool, c.cwd, c.task, c.role, c.created, c.updated,
			(SELECT count(*) FROM calls WHERE chain_id = c.id),
			(SELECT count(*) FROM calls WHERE chain_id = c.id AND `+continued+`), `+ledger.RecordColumns()+`
		FROM chains c JOIN `+ledger.RecordTables+`
		WHERE i.id = (SELECT max(id) FROM calls WHERE chain_id = c.id)
			AND EXISTS (SELECT 1 FROM calls k WHERE k.chain_id = c.id AND `+where+`)
		ORDER BY c.updated DESC, c.id DESC LIMIT ?`, func(c *ChainRow) []any {
		return append([]any{&c.ID, &c.Tool, &c.Cwd, &c.Task, &c.Role, &c.Created, &c.Updated,
			&c.Calls, &c.Resumed},
			ledger.RecordFields(&c.Last)...)
	}, append(args, cmp.Or(w.Limit, -1))...)
	if err != nil {
		return nil, fmt.Errorf("list chains: %w", err)
	}
	for i := range chains {
		if chains[i].Sessions, err = sessionRows(l, chains[i].ID, w.Lasting); err != nil {
			return nil, err
		}
	}
	return chains, nil
}

// sessionRows returns the sessions of a chain, the newest first.
func sessionRows(l *ledger.Ledger, chain int64, lasting Lasting) ([]SessionRow, error) {
	sessions, err := ledger.List(l, `SELECT id, chain_id, tool, coalesce(native_id, ''), state, state_why, reset,
		coalesce(version, ''),
		model, first_model, turns, context_used, context_limit, created, last_used, base_bytes,
		coalesce((SELECT p.native_id FROM sessions p WHERE p.id = sessions.parent_id), '') FROM sessions WHERE chain_id = ?
		ORDER BY id DESC`, func(s *SessionRow) []any {
		return []any{&s.ID, &s.Chain, &s.Tool, &s.NativeID, &s.State, &s.Why, &s.Reset, &s.Version,
			&s.Model, &s.Answered,
			&s.Turns,
			&s.Context.Used, &s.Context.Limit, &s.Created, &s.LastUsed, &s.BaseBytes, &s.Parent}
	}, chain)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	for i := range sessions {
		if sessions[i].Held, err = ledger.Held(l, sessions[i].ID); err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		if sessions[i].State == decide.Running && !sessions[i].Held {
			sessions[i].State = decide.Killed // the run was lost
		}
		if s := sessions[i]; s.State == decide.Live && !s.Held &&
			(s.LastUsed < lasting.Used || s.Created < lasting.Created) {
			sessions[i].State = Expired
		}
	}
	return sessions, nil
}

// SinceLatest returns the time when the first of so many latest calls began, 0 if there are no more.
func SinceLatest(l *ledger.Ledger, most int64) (decide.Millis, error) {
	since, err := ledger.Column[decide.Millis](l,
		"SELECT started + 1 FROM calls ORDER BY started DESC LIMIT 1 OFFSET ?", most)
	return append(since, 0)[0], ledger.Wrap("list calls", err)
}

// WholePrompts are numbers of resumed calls that sent their whole prompt.
type WholePrompts struct {
	// prompts so short that none of them is shortened
	Short int64 `json:"short_prompts_sent_whole" doc:"resumes with a prompt under 2 KB"`
	Long  int64 `json:"long_prompts_sent_whole" doc:"resumes with a longer prompt"`
}

// CountWhole counts the selected calls that were resumed with their whole prompt.
func CountWhole(l *ledger.Ledger, f Filter) (w WholePrompts, err error) {
	where, args := f.where("")
	err = ledger.Each(l, "SELECT coalesce(sum(prompt_bytes < ?), 0), coalesce(sum(prompt_bytes "+
		">= ?), 0) "+
		"FROM calls WHERE "+continued+
		" AND sent_bytes >= prompt_bytes AND "+where,
		func(rows *sql.Rows) error { return rows.Scan(&w.Short, &w.Long) },
		append([]any{prompt.ShortPromptBytes, prompt.ShortPromptBytes}, args...)...)
	return w, ledger.Wrap("count whole prompts", err)
}
