package ledger

import (
	"cmp"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
)

// Answers are kept for a day, and a prompt is compared with the latest of a project.
const (
	answersKept = 24 * 60 * 60 * 1000
	maxAnswers  = 256
)

// A givenAnswer is an answer of an earlier call, by the digests of the distinctive lines.
type givenAnswer struct {
	call, session, chain int64
	ended                decide.Millis
	alike                bool // the chain begins like the prompt: it can be an item of the same batch
	lines                []prompt.WordDigest
}

// shownIn reports whether all lines of the answer are among some.
func (a *givenAnswer) shownIn(lines map[prompt.WordDigest]bool) bool {
	return len(a.lines) > 0 && !slices.ContainsFunc(a.lines, func(m prompt.WordDigest) bool { return !lines[m] })
}

// answers reads the latest answers of the project's calls, by any tool, if the prompt shows a line
// of them.
func (l *Ledger) answers(c *Call) (all []givenAnswer, err error) {
	shown := map[prompt.WordDigest]bool{}
	note := sync.OnceFunc(func() {
		for _, mark := range c.Prompt.LineDigests() {
			shown[mark] = true
		}
	})
	var sessions []string
	err = Each(l.db, "SELECT call, session, ended, lines FROM answers WHERE project = ? AND ended >= ? "+
		"AND length(lines) <= ? ORDER BY ended DESC LIMIT "+strconv.Itoa(maxAnswers), func(rows *sql.Rows) error {
		var a givenAnswer
		var lines sql.RawBytes
		if err := rows.Scan(&a.call, &a.session, &a.ended, &lines); err != nil {
			return err
		}
		note()
		a.lines = decodeMarks(lines)
		if slices.ContainsFunc(a.lines, func(m prompt.WordDigest) bool { return shown[m] }) {
			all, sessions = append(all, a), append(sessions, strconv.FormatInt(a.session, 10))
		}
		return nil
	}, c.Project, c.Now-answersKept, maxBlob)
	if err != nil || len(all) == 0 {
		return all, err
	}
	return all, Each(l.db, "SELECT s.id, c.id, c.first_line = ? FROM sessions s JOIN chains c ON c.id = s.chain_id "+
		"WHERE s.id IN ("+
		strings.Join(sessions, ", ")+")", func(rows *sql.Rows) error {
		var session, chain int64
		var alike bool
		err := rows.Scan(&session, &chain, &alike)
		for k := range all {
			if a := &all[k]; a.session == session {
				a.chain, a.alike = chain, alike
			}
		}
		return err
	}, c.FirstLine())
}

// addEvidence adds to the facts about sessions what shows that the call continues them and what speaks
// against it: who made the calls, the later answers of others, and the words of the prompt.
func addEvidence(c *Call, chains []decide.ChainFacts, answers []givenAnswer) {
	for i := range chains {
		cf := &chains[i]
		p := &cf.Proof
		p.Work = cf.Changes()
		if c.Now >= cf.LastUsed {
			p.Caller, _ = c.Caller.SameAs(cf.Caller, c.Now-cf.LastUsed)
			p.Terminal = p.Caller == "" && c.Caller.SameShell(cf.Caller)
		}
		e := &cf.Continuity.Evidence
		if !cf.Retains() && e.Answer == 0 {
			continue
		}
		gone := false // no file is there that the commands could have changed
		if !p.Work && p.Caller != "" && cf.LeftFiles != "" && !cf.Shared && c.FindWork != nil {
			cf.LeftFiles = c.FindWork(cf.LeftFiles, cf.NativeID)
			p.Work = cf.Changes()
			gone = !p.Work
			e.AddChanged(changedFiles(cf.LeftFiles))
		}
		quoted := addFlow(cf, answers)
		p.Transcript, p.Answer, p.Trace = e.Transcript, e.Answer > 0, len(e.Trace) > 0 && !gone
		p.Failure, p.Rejected = e.Failure() != "", e.Rejected()
		others := func(text string) bool { return quoted[text] }
		if c.strong() {
			others = nil // a reviewer's answer can end the conversation of a named role
		}
		cf.Against = e.Against(others)
	}
}

// addFlow looks for answers of other sessions since the session's latest run. It returns the lines of
// the prompt that such an answer has. A line in answers of two chains is a form that all answers have.
func addFlow(c *decide.ChainFacts, answers []givenAnswer) (quoted map[string]bool) {
	quoted, added := map[string]bool{}, map[prompt.WordDigest]string{}
	e := &c.Continuity.Evidence
	for _, line := range e.New() {
		added[line.Digest] = line.Text
	}
	own := slices.IndexFunc(answers, func(a givenAnswer) bool { return a.session == c.Session })
	several := saidBySeveral(answers)
	for k := range answers {
		a := &answers[k]
		if a.chain == c.Chain && a.chain != 0 {
			continue
		}
		c.AnswerShared = c.AnswerShared || own >= 0 && slices.Equal(a.lines, answers[own].lines)
		if a.ended <= c.LastUsed {
			continue
		}
		for _, mark := range a.lines {
			if text, found := added[mark]; found && !several[mark] {
				c.Proof.Flow = cmp.Or(c.Proof.Flow, a.call)
				quoted[text] = true
			}
		}
	}
	return quoted
}

// saidBySeveral returns the lines in answers of more than one chain.
func saidBySeveral(answers []givenAnswer) map[prompt.WordDigest]bool {
	several, first := map[prompt.WordDigest]bool{}, map[prompt.WordDigest]int64{}
	for k := range answers {
		for _, mark := range answers[k].lines {
			if chain, said := first[mark]; said && chain != answers[k].chain {
				several[mark] = true
			}
			first[mark] = answers[k].chain
		}
	}
	return several
}

// shownSessions returns the sessions with a newest answer that the prompt shows, as a list in SQL.
func shownSessions(p *prompt.Prompt, answers []givenAnswer) string {
	if len(answers) == 0 {
		return ""
	}
	lines := map[prompt.WordDigest]bool{}
	for _, mark := range p.LineDigests() {
		lines[mark] = true
	}
	var ids []string
	for i := range answers {
		if a := &answers[i]; a.session != 0 && a.shownIn(lines) {
			ids = append(ids, strconv.FormatInt(a.session, 10))
		}
	}
	return strings.Join(ids, ", ")
}

// longestRun bounds how long before a time a call began that still ran then.
const longestRun = 24 * 60 * 60 * 1000

// Beside returns how many calls ran at some time between two times in a directory or below it. A call of
// which no end was recorded counts.
func (l *Ledger) Beside(dir string, from, to decide.Millis) (n int, err error) {
	below := strings.TrimSuffix(dir, "/") + "/"
	err = l.db.QueryRow("SELECT count(*) FROM calls WHERE started >= ? AND started < ? AND (duration IS NULL "+
		"OR started + duration > ?) "+
		"AND (cwd = ? OR substr(cwd, 1, ?) = ?)", from-longestRun, to, from, dir, len([]rune(below)), below).Scan(&n)
	return n, err
}

// recordAnswer records an answer's lines, and forgets those that are older than a day.
func recordAnswer(tx *sql.Tx, call, session int64, project string, ended decide.Millis, lines []byte) error {
	if len(lines) == 0 || project == "" {
		return nil
	}
	if _, err := tx.Exec("INSERT OR REPLACE INTO answers (call, session, project, ended, lines) VALUES (?, ?, ?, "+
		"?, ?)",
		call, session, project, ended, lines); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM answers WHERE project = ? AND ended < ?", project, ended-answersKept)
	return err
}
