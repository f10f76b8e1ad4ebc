package ledger

import (
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"reprise/rewrite"
)

// Answers are kept for a day, and a prompt is compared with the latest of a project.
const (
	answersKept = 24 * 60 * 60 * 1000
	maxAnswers  = 256
)

// A givenAnswer is an answer of an earlier call: the digests of its distinctive lines.
type givenAnswer struct {
	invocation, session, chain int64
	ended                      Millis
	lines                      []rewrite.Mark
}

// shownIn reports whether all lines of the answer are among some.
func (a *givenAnswer) shownIn(lines map[rewrite.Mark]bool) bool {
	return len(a.lines) > 0 && !slices.ContainsFunc(a.lines, func(m rewrite.Mark) bool { return !lines[m] })
}

// answers reads the latest answers that calls of the project have given, by any tool.
func (l *Ledger) answers(c *Call) (all []givenAnswer, err error) {
	rows, err := l.db.Query(`SELECT a.invocation, a.session, coalesce(s.chain_id, 0), a.ended, a.lines
		FROM answers a LEFT JOIN sessions s ON s.id = a.session
		WHERE a.project = ? AND a.ended >= ? ORDER BY a.ended DESC LIMIT `+strconv.Itoa(maxAnswers), c.Project, c.Now-answersKept)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a givenAnswer
		var lines sql.RawBytes
		if err := rows.Scan(&a.invocation, &a.session, &a.chain, &a.ended, &lines); err != nil {
			return nil, err
		}
		a.lines = decodeMarks(lines)
		all = append(all, a)
	}
	return all, rows.Err()
}

// addFlow adds to the facts about sessions what others have answered since their latest runs and the prompt
// shows now, and whether another session gave the same answer.
func addFlow(chains []ChainFacts, answers []givenAnswer) {
	for i := range chains {
		c := &chains[i]
		if c.Continuity.Relation == rewrite.Identical {
			continue
		}
		added := map[rewrite.Mark]string{}
		for _, line := range c.Continuity.Evidence.New() {
			added[line.Mark] = line.Text
		}
		own := slices.IndexFunc(answers, func(a givenAnswer) bool { return a.session == c.Session })
		for k := range answers {
			a := &answers[k]
			if a.chain == c.Chain && a.chain != 0 {
				continue
			}
			if own >= 0 && slices.Equal(a.lines, answers[own].lines) {
				c.AnswerShared = true
			}
			for _, mark := range a.lines {
				if text, found := added[mark]; found && a.ended > c.LastUsed {
					if c.Flow == 0 {
						c.Flow = a.invocation
					}
					if c.quoted == nil {
						c.quoted = map[string]bool{}
					}
					c.quoted[text] = true
				}
			}
		}
	}
}

// shownSessions returns the sessions whose newest answers the prompt shows, as a list in SQL.
func shownSessions(p *rewrite.Prompt, answers []givenAnswer) string {
	lines := map[rewrite.Mark]bool{}
	for _, mark := range p.LineMarks() {
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

// recordAnswer records an answer's lines, and forgets those that are older than a day.
func recordAnswer(tx *sql.Tx, invocation, session int64, project string, ended Millis, lines []byte) error {
	if len(lines) == 0 || project == "" {
		return nil
	}
	if _, err := tx.Exec("INSERT OR REPLACE INTO answers (invocation, session, project, ended, lines) VALUES (?, ?, ?, ?, ?)",
		invocation, session, project, ended, lines); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM answers WHERE project = ? AND ended < ?", project, ended-answersKept)
	return err
}
