package ledger

import _ "embed"

// schema makes the tables.
//
//go:embed schema.sql
var schema string

// applicationID marks a SQLite file as a ledger ("rpr1").
const applicationID = 0x72707231

// schemaVersion numbers schema. A ledger of a lower one is set aside.
const schemaVersion = 14

// Format numbers what sessions are compared by: the digests of prompts and answers, the names of settings, roles that nothing
// names. A session of another format is never continued, and the reason says so. TestFormat sees when it must rise.
const Format = 1
