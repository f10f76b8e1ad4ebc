package ledger

import (
	"database/sql"
	"fmt"
)

// A Queryer answers queries: a ledger, or a transaction.
type Queryer interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

// Query asks the ledger in SQL, for package history.
func (l *Ledger) Query(query string, args ...any) (*sql.Rows, error) {
	return l.db.Query(query, args...)
}

// exists reports whether a query has a row, given SQL from FROM on.
func (l *Ledger) exists(from string, args ...any) (found bool, err error) {
	err = l.db.QueryRow("SELECT EXISTS (SELECT 1 "+from+")", args...).Scan(&found)
	return found, err
}

// Each runs a query and reads the rows.
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

// List returns the rows of a query, each as a value with fields for the columns.
func List[T any](q Queryer, query string,
	fields func(*T) []any, args ...any) (list []T, err error) {
	err = Each(q, query, func(rows *sql.Rows) error {
		var one T
		err := rows.Scan(fields(&one)...)
		list = append(list, one)
		return err
	}, args...)
	return list, err
}

// Column returns the rows of a query that have one column.
func Column[T any](q Queryer, query string, args ...any) ([]T, error) {
	return List(q, query, func(value *T) []any { return []any{value} }, args...)
}

// Wrap returns an error with the action that it has prevented, nil for nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func changed(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
