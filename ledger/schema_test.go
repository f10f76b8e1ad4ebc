package ledger

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write schema.sql anew")

// The schema is what all migrations make of nothing, row for row of what they fill in.
func TestSchema(t *testing.T) {
	db, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "migrated.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, m := range migrations {
		if _, err := db.Exec(m); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Query("SELECT sql, CASE type WHEN 'table' THEN name END FROM sqlite_schema WHERE sql <> '' ORDER BY rowid")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	text := new(strings.Builder)
	fmt.Fprintln(text, "-- What the migrations make of an empty ledger. Written by: go test ./ledger -run TestSchema -update")
	var tables []string
	for rows.Next() {
		var statement string
		var table sql.NullString
		if err := rows.Scan(&statement, &table); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(text, "%s;\n", statement)
		if table.Valid {
			tables = append(tables, table.String)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.sql", []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text.String() != schema {
		t.Error("schema.sql is not what the migrations make: go test ./ledger -run TestSchema -update")
	}
	for _, table := range tables {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n > 0 {
			t.Errorf("%s has %d rows (%v), which schema.sql does not make", table, n, err)
		}
	}
}
