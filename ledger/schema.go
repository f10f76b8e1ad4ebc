package ledger

import _ "embed"

// schema makes the tables of the first version.
//
//go:embed schema.sql
var schema string

// applicationID marks a SQLite file as a ledger ("rpr1").
const applicationID = 0x72707231

// migrations bring a ledger from one version to the next. user_version counts the applied ones. A
// released migration is never changed.
var migrations = []string{schema,
	"ALTER TABLE invocations ADD COLUMN cache_hour INTEGER NOT NULL DEFAULT 0", // the provider was asked to keep the prompt for an hour
	"ALTER TABLE invocations ADD COLUMN login INTEGER NOT NULL DEFAULT 0",      // the tool was logged in to an account, and given no key
}
