package ledger

import (
	"context"
	"database/sql"
	"fmt"
)

// A Queryer answers queries: a ledger, a moment of it, or a transaction.
type Queryer interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

// Query asks the ledger in SQL. Package history does, for what people are shown.
func (l *Ledger) Query(query string, args ...any) (*sql.Rows, error) {
	return l.db.Query(query, args...)
}

// Each runs a query and reads its rows.
func Each(q Queryer, query string, read func(*sql.Rows) error, args ...any) error {
	rows, err := q.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// InOneMoment runs queries that see no concurrent write. A transaction of database/sql would take
// the writer's lock.
func (l *Ledger) InOneMoment(read func(Queryer) error) error {
	ctx := context.Background()
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	defer func() { _, _ = conn.ExecContext(ctx, "ROLLBACK") }()
	return read(onConn{conn})
}

// onConn runs queries on one connection.
type onConn struct{ conn *sql.Conn }

func (c onConn) Query(query string, args ...any) (*sql.Rows, error) {
	return c.conn.QueryContext(context.Background(), query, args...)
}
