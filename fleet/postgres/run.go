package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"reprise/fleet/store"

	"github.com/jackc/pgx/v5/pgconn"
)

// Formats of parameters and results.
const (
	text   int16 = 0
	binary int16 = 1
)

// A statement is sent and answered in one round trip, and is a transaction of its own.
type statement struct {
	what    string // for errors
	text    string
	write   bool
	values  [][]byte
	formats []int16 // of values
	results []int16 // formats of the result's columns
}

// maxIdle is after how long a connection is not trusted: something between may have forgotten it.
const maxIdle = time.Minute

// Codes of errors, and beginnings of them, as PostgreSQL's manual lists them.
const (
	undefinedTable   = "42P01"
	undefinedSchema  = "3F"
	undefinedCatalog = "3D"
	noPrivilege      = "42501"
	wrongStatement   = "42" // besides the two above: the tables have other columns
	badPassword      = "28"
	rolledBack       = "40"
)

// schema makes the tables. Its statements are one transaction. Of several who make it at once all but one wait.
const schema = `SELECT pg_advisory_xact_lock(3520781964101);
CREATE TABLE IF NOT EXISTS reprise_register (key text COLLATE "C" PRIMARY KEY, version bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
	value bytea NOT NULL, updated timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS reprise_blob (name text COLLATE "C" PRIMARY KEY, body bytea NOT NULL, created timestamptz NOT NULL DEFAULT now());
ALTER TABLE reprise_blob ALTER body SET STORAGE EXTERNAL`

// errSchema reports tables that another program, or a later reprise, has made.
var errSchema = errors.New("the tables reprise_register and reprise_blob are not as expected")

// errRefused is an answer that none of the store's errors describes.
var errRefused = errors.New("the store refuses the statement")

// run executes a statement, and makes the tables if they are missing. A read whose connection turns out to be lost is
// repeated.
func (s *Store) run(ctx context.Context, q statement) ([][][]byte, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", q.what, context.Cause(ctx))
	}
	used, err := s.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.what, err)
	}
	rows, err := s.try(ctx, q)
	if used && !q.write && s.conn.IsClosed() && ctx.Err() == nil {
		if _, err := s.connect(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", q.what, err)
		}
		rows, err = s.try(ctx, q)
	}
	if answer := (*pgconn.PgError)(nil); errors.As(err, &answer) && answer.Code == undefinedTable {
		if _, err = s.conn.Exec(ctx, schema).ReadAll(); err == nil {
			rows, err = s.try(ctx, q)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.what, failed(ctx, q.write, err))
	}
	return rows, nil
}

func (s *Store) try(ctx context.Context, q statement) ([][][]byte, error) {
	result := s.conn.ExecParams(ctx, q.text, q.values, nil, q.formats, q.results).Read()
	s.used = time.Now()
	return result.Rows, result.Err
}

// connect makes the connection if there is none that can be used. used reports that there was one.
func (s *Store) connect(ctx context.Context) (used bool, err error) {
	if s.conn != nil && !s.conn.IsClosed() && time.Since(s.used) < maxIdle {
		//lint:ignore SA1019 a ping costs a round trip
		if s.conn.CheckConn() == nil {
			return true, nil
		}
	}
	if s.conn != nil {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_ = s.conn.Close(ended) // without waiting for the server
		s.conn = nil
	}
	conn, err := pgconn.ConnectConfig(ctx, s.config)
	if err == nil {
		s.conn, s.used = conn, time.Now()
		return false, nil
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	answer := (*pgconn.PgError)(nil)
	if errors.As(err, &answer) {
		if kind := refused(answer.Code, false); kind != errRefused {
			return false, fmt.Errorf("%w: %s", kind, describe(answer))
		}
	}
	return false, fmt.Errorf("%w: %s", store.ErrUnreachable, strings.Join(strings.Fields(err.Error()), " "))
}

// failed returns what an error of a statement means to a caller.
func failed(ctx context.Context, write bool, err error) error {
	answer := (*pgconn.PgError)(nil)
	unknown := write && !pgconn.SafeToRetry(err)
	switch {
	case errors.As(err, &answer):
		return fmt.Errorf("%w: %s", refused(answer.Code, write), describe(answer))
	case ctx.Err() != nil && unknown:
		return fmt.Errorf("%w: %w", store.ErrUnknown, context.Cause(ctx))
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case unknown:
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	default:
		return fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
}

// refused returns the error for a code. The server sends some while it shuts down, when a commit may have been made.
func refused(code string, write bool) error {
	switch {
	case strings.HasPrefix(code, badPassword), code == noPrivilege:
		return store.ErrDenied
	case strings.HasPrefix(code, undefinedCatalog), strings.HasPrefix(code, undefinedSchema):
		return store.ErrNoStore
	case strings.HasPrefix(code, wrongStatement):
		return errSchema
	case strings.HasPrefix(code, rolledBack) && code != "40003" && write: // which is "completion unknown"
		return store.ErrMoved
	case strings.HasPrefix(code, "2"): // the value, or a server that only reads
		return errRefused
	case write:
		return store.ErrUnknown
	case strings.HasPrefix(code, "5"), strings.HasPrefix(code, "08"):
		return store.ErrUnreachable
	default:
		return errRefused
	}
}

// describe says what the server said, without the detail, which may contain values.
func describe(answer *pgconn.PgError) string {
	return fmt.Sprintf("%s %s (%s)", answer.Severity, answer.Message, answer.Code)
}

// array returns texts as PostgreSQL writes a list of them.
func array(texts []string) []byte {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var quoted []string
	for _, text := range texts {
		quoted = append(quoted, `"`+escape.Replace(text)+`"`)
	}
	return []byte("{" + strings.Join(quoted, ",") + "}")
}
