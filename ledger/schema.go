package ledger

import _ "embed"

// schema makes the tables of the first version.
//
//go:embed schema.sql
var schema string

// applicationID marks a SQLite file as a ledger ("rpr1").
const applicationID = 0x72707231

// Format numbers what sessions are compared by: the digests of prompts and answers, the names of settings, roles that nothing
// names. A session of another format is never continued, and the reason says so. TestFormat sees when it must rise.
const Format = 1

// migrations bring a ledger from one version to the next. user_version counts the applied ones. A
// released migration is never changed.
var migrations = []string{schema,
	"ALTER TABLE invocations ADD COLUMN cache_hour INTEGER NOT NULL DEFAULT 0", // the provider was asked to keep the prompt for an hour
	"ALTER TABLE invocations ADD COLUMN login INTEGER NOT NULL DEFAULT 0",      // the tool was logged in to an account, and given no key

	// The session's latest resumed rounds that were given the same, as JSON.
	"ALTER TABLE sessions ADD COLUMN rounds TEXT NOT NULL DEFAULT ''",
	// whole or delta, '' where no chain is sent whole prompts for comparison.
	"ALTER TABLE invocations ADD COLUMN delta_arm TEXT NOT NULL DEFAULT ''",
	// When the shims last did what they do once a day.
	"CREATE TABLE daily (what TEXT PRIMARY KEY, claimed INTEGER NOT NULL) WITHOUT ROWID",
	// Where the configuration had a mistake, or what failed: of the latest call.
	"ALTER TABLE passed ADD COLUMN detail TEXT NOT NULL DEFAULT ''",
	"ALTER TABLE sessions ADD COLUMN format INTEGER NOT NULL DEFAULT 1",     // the Format that it was recorded in
	"ALTER TABLE invocations ADD COLUMN why_whole TEXT NOT NULL DEFAULT ''", // why a resumed session was sent the whole prompt
	"CREATE INDEX invocations_hour ON invocations (started) WHERE cache_hour",
	"ALTER TABLE leases ADD COLUMN namespace TEXT NOT NULL DEFAULT ''", // of the processes' IDs
}
