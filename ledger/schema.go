package ledger

import _ "embed"

// otherTables makes the tables without a struct for their rows, and all indexes.
//
//go:embed schema.sql
var otherTables string

func schema() string {
	return chains.plan().create + sessions.plan().create + records.plan().create + otherTables
}

// applicationID marks a SQLite file as a ledger ("rpr1").
const applicationID = 0x72707231

// schemaVersion numbers the tables. A ledger of an older version is set aside.
const schemaVersion = 19

// Format numbers the values that sessions are compared by: the digests of prompts and answers, the names of settings,
// roles that nothing names. A session of another format is never continued, and the reason says so. TestFormat
// sees when it must rise.
const Format = 1
