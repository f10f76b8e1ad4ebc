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
	answersKept = day
	maxAnswers  = 256
)

// A givenAnswer is an answer of an earlier call, by the digests of the distinctive lines.
type givenAnswer struct {
	call, session, chain int64
	ended                decide.Millis
	lines                []prompt.WordDigest
	whole                bool // the prompt shows all lines
}

// answers reads the latest answers of the project's calls, by any tool, if the prompt shows a line
// of them.
func (l *Ledger) answers(c *Call) (all []givenAnswer, err error) {
	shown := sync.OnceValue(c.Prompt.LineDigests)
	err = Each(l, `SELECT call, session, chain, ended, lines FROM answers WHERE project = ? AND ended >= ?
		AND length(lines) <= ?
		ORDER BY ended DESC LIMIT `+strconv.Itoa(maxAnswers), func(rows *sql.Rows) error {
		var a givenAnswer
		var lines sql.RawBytes
		if err := rows.Scan(&a.call, &a.session, &a.chain, &a.ended, &lines); err != nil {
			return err
		}
		a.lines = decodeMarks(lines)
		count := 0
		for _, line := range a.lines {
			if shown()[line] {
				count++
			}
		}
		if a.whole = count == len(a.lines); count > 0 {
			all = append(all, a)
		}
		return nil
	}, c.Project, c.Now-answersKept, maxBlob)
	return all, err
}

// addEvidence adds to the facts about sessions the evidence that the call continues them, and the
// objections: from the callers, the later answers of others, and the words of the prompt.
func addEvidence(c *Call, chains []decide.ChainFacts, answers []givenAnswer) {
	several := saidBySeveral(answers)
	for i := range chains {
		cf := &chains[i]
		p := &cf.Evidence
		p.Work = cf.Changes()
		if c.Now >= cf.LastUsed {
			p.Caller = c.Caller.SameAs(cf.Caller, c.Now-cf.LastUsed)
			p.Terminal = p.Caller == "" && c.Caller.SameShell(cf.Caller)
		}
		e := &cf.Continuity.Evidence
		if !cf.HasFirstPrompt() && e.Answer == 0 {
			continue
		}
		gone := false // no file is there that the commands could have changed
		caller := p.Caller != "" || p.Terminal
		if !p.Work && caller && cf.LeftFiles != "" && !cf.Shared && c.FindWork != nil {
			cf.LeftFiles = c.FindWork(cf.LeftFiles, cf.NativeID)
			p.Work = cf.Changes()
			gone = !p.Work
		}
		e.AddChanged(changedFiles(cf.LeftFiles))
		quoted := addFlow(cf, answers, several)
		p.Transcript, p.Answer, p.Trace = e.Transcript, e.Answer > 0, e.Trace != "" && !gone
		cf.Said = sync.OnceValues(func() (failure, rejected bool) {
			return e.Failure() != "", e.Rejected()
		})
		others := func(text string) bool { return quoted[text] }
		if c.strong() {
			others = nil // a reviewer's answer can end the conversation of a named role
		}
		cf.Against = sync.OnceValue(func() []prompt.Finding { return e.Against(others) })
	}
}

// addFlow looks for answers of other sessions since the session's latest run. It returns the lines
// of the prompt that such an answer has. A line that several say, in answers of two chains, is a
// form that all answers have.
func addFlow(c *decide.ChainFacts, answers []givenAnswer,
	several map[prompt.WordDigest]bool) (quoted map[string]bool) {
	quoted, added := map[string]bool{}, map[prompt.WordDigest]string{}
	if len(answers) == 0 {
		return quoted
	}
	e := &c.Continuity.Evidence
	for _, line := range e.New() {
		added[line.Digest] = line.Text
	}
	own := slices.IndexFunc(answers, func(a givenAnswer) bool { return a.session == c.Session })
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
				c.Evidence.Flow = cmp.Or(c.Evidence.Flow, a.call)
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
func shownSessions(answers []givenAnswer) string {
	var ids []string
	for i := range answers {
		if a := &answers[i]; a.session != 0 && a.whole {
			ids = append(ids, strconv.FormatInt(a.session, 10))
		}
	}
	return strings.Join(ids, ", ")
}

// Beside returns how many calls ran at some time between two times in a directory or below it. A
// call without a recorded end counts. No call is taken to run for more than a day.
func (l *Ledger) Beside(dir string, from, to decide.Millis) (n int, err error) {
	below := strings.TrimSuffix(dir, "/") + "/"
	err = l.db.QueryRow(`SELECT count(*) FROM calls WHERE started >= ? AND started < ? AND
		(duration IS NULL OR started + duration > ?) AND substr(cwd || '/', 1, length(?4)) = ?4`,
		from-day, to, from, below).Scan(&n)
	return n, err
}

// recordAnswer records the answer's lines, and forgets the answers that are older than a day.
func (e *Ending) recordAnswer(tx *sql.Tx, call int64) error {
	if len(e.AnswerLines) == 0 || e.Project == "" {
		return nil
	}
	ended := e.Outcome.Now
	_, err := tx.Exec(`INSERT OR REPLACE INTO answers (call, session, chain, project, ended, lines)
			VALUES (?, ?, iif(?2 = 0, 0, ?), ?, ?, ?);
		DELETE FROM answers WHERE project = ? AND ended < ?`,
		call, e.Session, e.Chain, e.Project, ended, e.AnswerLines, e.Project, ended-answersKept)
	return err
}
