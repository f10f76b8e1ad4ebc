package history

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A Slice sums up the calls of one day that have the same properties.
type Slice struct {
	// only in Groups, and OtherKeys if it is not among those with the most calls
	Key               string
	Day               decide.Millis // the beginning, in UTC
	Tool, Rule, Model string        // Model that answered
	Role              string        // of their chain
	Mode              rewrite.Mode
	Reason, FellBack  reason.Code
	Arm               string
	Well              bool // they ended well
	Counted, Priced   bool // the tool reported their tokens, and their cost
	// some prompt might have been longer than the bound: the run's prompts together are
	Long bool
	// of the prompts, the part not sent: where more than the prompt was sent, nothing
	LeftOutBytes int64
	Created      int64 // sessions: one by each call that did not continue in the same session
	Front
	Sums
}

// Sums are sums over managed calls, with the number of calls for which each figure is known.
type Sums struct {
	Calls, Resumed, Ended, OK int64
	// of Resumed, those in a copy of a session that another process has used
	Forked                               int64
	Metered                              int64 // calls with known tokens
	Input, CacheRead, CacheWrite, Output int64
	// of CacheWrite, the tokens that the provider was asked to keep for an hour
	HourWrite       int64
	Priced, Cost    int64 // nano-dollars
	Timed, Duration int64 // milliseconds
}

func (s *Sums) columns() []any {
	return []any{&s.Calls, &s.Resumed, &s.Forked, &s.Ended, &s.OK, &s.Metered, &s.Input,
		&s.CacheRead, &s.CacheWrite,
		&s.Output,
		&s.HourWrite, &s.Priced, &s.Cost, &s.Timed, &s.Duration}
}

// Add adds more calls.
func (s *Sums) Add(more Sums) {
	to, from := s.columns(), more.columns()
	for i := range to {
		*to[i].(*int64) += *from[i].(*int64)
	}
}

// A Front sums up how much the calls' first requests found of the text in front of a prompt, as
// system prompt and tools, in the provider's cache.
type Front struct {
	Firsts int64 // calls with a known first request. Below 4096 tokens some providers cache nothing
	// their tokens in front of the prompts. Of these only bytes are known: four count as a token
	Ahead int64
	Read  int64 // tokens that they found
	Most  int64 // the most that a call found
	Warm  int64 // calls that continued a session which the cache had, and so had the text in front
}

// Add adds more calls.
func (f *Front) Add(more Front) {
	f.Firsts, f.Ahead, f.Read, f.Most = f.Firsts+more.Firsts, f.Ahead+more.Ahead, f.Read+more.Read,
		max(f.Most, more.Most)
	f.Warm += more.Warm
}

// The columns of a Front. A session in use shortly before is in the cache unless the calls show
// otherwise.
const (
	firstKnown = "coalesce(first_prompt >= 4096, 0)"
	frontOf    = "coalesce(sum(" + firstKnown +
		"), 0), coalesce(sum(max(first_prompt - sent_bytes / 4, " +
		"0)) FILTER (WHERE " + firstKnown + "), 0)," +
		"coalesce(sum(first_read) FILTER (WHERE " + firstKnown +
		"), 0), coalesce(max(first_read) FILTER (WHERE " +
		firstKnown + "), 0)," +
		"coalesce(sum(idle NOT NULL AND NOT coalesce(" + ledger.MissedCache +
		", 0) AND (idle < 300000 OR " +
		ledger.HeldEnough + ")), 0)"
)

// Side returns the side that the calls count on.
func (s Slice) Side() decide.Side { return decide.ClassifyRun(s.Mode, s.Reason, s.FellBack) }

// Managed reports whether the shim decided on the calls.
func (s Slice) Managed() bool { return s.Mode == rewrite.Fresh || s.Mode.Continues() }

// OtherKeys stands for all keys but those with the most calls.
const OtherKeys = "\x00"

// Slices sums up the selected calls.
func Slices(q ledger.Queryer, f Filter, longPrompt int64) ([]Slice, error) {
	list, err := readSlices(q, f, longPrompt, "''")
	return list, ledger.Wrap("sum up days", err)
}

// The properties that readSlices reads about calls, in the bits below their day.
const (
	isWell = 1 << iota
	isEnded
	isCounted
	isPriced
	isLong
	isTimed
	belowDay = iota
)

// readSlices sums up the calls that are alike; key is an expression of their key, with its
// arguments. It makes SQLite sort by as few columns as possible and computes here the figures that
// follow from them: for a million calls each column takes a tenth of a second.
func readSlices(q ledger.Queryer, f Filter, longPrompt int64,
	key string, args ...any) (list []Slice, err error) {
	query := fmt.Sprintf(`SELECT (started / %d << %d) + coalesce(outcome = 'ok', 0) * %d + (outcome IS NOT NULL) * %d +
		(input IS NOT NULL) * %d + (cost IS NOT NULL) * %d + coalesce(input + cache_read + cache_write > %d, 0) * %d +
		(duration IS NOT NULL) * %d, tool, rule, coalesce(model, ''), mode, reason, coalesce(fell_back, ''), arm,
		coalesce((SELECT role FROM chains WHERE id = chain_id), ''), %s,
		count(*), coalesce(sum(input), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0), coalesce(sum(output),
		0),
		coalesce(sum(cache_write * cache_hour), 0), `+frontOf+`,
		coalesce(sum(cost), 0), coalesce(sum(duration), 0), sum(max(prompt_bytes - sent_bytes, 0)), sum(coalesce(mode <> 'resume' OR native_id <> resumed_from,
		resumed_from IS NULL))
		FROM calls WHERE %%s GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`,
		day, belowDay, isWell, isEnded, isCounted, isPriced, longPrompt, isLong, isTimed, key)
	at := map[Slice]int{} // keyed by the common properties, with all sums zero
	err = inPieces(q, f, query, func(rows *sql.Rows) error {
		var s Slice
		var sums Sums
		var front Front
		var bits, leftOut, created int64
		if err := rows.Scan(&bits, &s.Tool, &s.Rule, &s.Model, &s.Mode, &s.Reason, &s.FellBack,
			&s.Arm, &s.Role, &s.Key,
			&sums.Calls, &sums.Input, &sums.CacheRead, &sums.CacheWrite, &sums.Output,
			&sums.HourWrite, &front.Firsts, &front.Ahead, &front.Read, &front.Most, &front.Warm,
			&sums.Cost, &sums.Duration, &leftOut, &created); err != nil {
			return err
		}
		s.Day = decide.Millis(bits>>belowDay) * day
		s.Well, s.Counted, s.Priced, s.Long = bits&isWell != 0, bits&isCounted != 0,
			bits&isPriced != 0, bits&isLong != 0
		slice := placed(&list, at, s)
		allIf := func(they bool) int64 {
			if they {
				return sums.Calls
			}
			return 0
		}
		sums.Resumed, sums.Forked = allIf(s.Mode.Continues()), allIf(s.Mode == rewrite.Fork)
		sums.Ended, sums.OK = allIf(bits&isEnded != 0), allIf(s.Well)
		sums.Metered, sums.Priced, sums.Timed = allIf(s.Counted), allIf(s.Priced),
			allIf(bits&isTimed != 0)
		slice.Sums.Add(sums)
		slice.Front.Add(front)
		slice.Created += created
		slice.LeftOutBytes += leftOut
		return nil
	}, args...)
	slices.SortStableFunc(list, func(a, b Slice) int { return cmp.Compare(a.Day, b.Day) })
	return list, err
}

// mostCalled returns an expression of a call's key, and the arguments. It is OtherKeys for all but
// the keys that the most managed calls have. OtherKeys is one of that many keys, and stands for
// several.
func mostCalled(q ledger.Queryer, by By,
	f Filter, most int) (expression string, keys []any, err error) {
	where, args := f.selects("")
	values, err := ledger.Column[string](q,
		"SELECT "+by.column()+" FROM calls WHERE "+managed+" AND "+where+" "+
			"GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ?", append(args, most+1)...)
	if len(values) <= most {
		return by.column(), nil, err
	}
	expression = "coalesce((SELECT k FROM (SELECT " + by.column() +
		" AS k) WHERE k IN (SELECT value FROM json_each(?))), char(0))"
	return expression, []any{ledger.EncodeJSON(values[:max(most-1, 0)])}, err
}

// pieceSize is how many calls are sorted at a time: that takes far fewer comparisons than sorting
// all of them, and fits into the processor's cache.
const pieceSize = 2000

// inPieces runs a query that groups the selected calls, once for each piece of the table. %s in it
// is the condition; the arguments follow those given. Each piece yields its own row for a group.
func inPieces(q ledger.Queryer, f Filter, query string,
	read func(*sql.Rows) error, args ...any) error {
	among, ofFilter := f.among("")
	query = fmt.Sprintf(query, "id BETWEEN ? AND ? AND "+among)
	next := func(id, condition string, bound any) (first sql.NullInt64, err error) {
		err = ledger.Each(q, "SELECT min("+id+") FROM calls WHERE "+condition,
			func(rows *sql.Rows) error { return rows.Scan(&first) }, bound)
		return first, err
	}
	first, err := next("+id", "started >= ?", f.Since) // + has SQLite use the index by time
	for first.Valid && err == nil {
		last := first.Int64 + pieceSize - 1
		if err = ledger.Each(q, query, read,
			slices.Concat(args, []any{first.Int64, last}, ofFilter)...); err == nil {
			first, err = next("id", "id > ?", last)
		}
	}
	return err
}

// placed returns the list's entry for like, and appends one if there is none yet.
func placed[T comparable](list *[]T, at map[T]int, like T) *T {
	i, ok := at[like]
	if !ok {
		i = len(*list)
		at[like] = i
		*list = append(*list, like)
	}
	return &(*list)[i]
}
