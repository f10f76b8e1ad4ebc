// Package export writes the content of the ledger in formats that other programs read: NDJSON,
// Prometheus's text format, OTLP over HTTP.
//
// It never holds more than a batch of calls in memory, and sends data only to the address that it
// is given. Its invariant: an unknown figure is null or left out, never 0.
package export

import (
	"encoding/json"
	"io"
	"iter"

	"reprise/ledger/history"
)

// Calls are invocations as they are read.
type Calls = iter.Seq2[history.Invocation, error]

// NDJSON writes a line with one object for each call, in the form that line gives it.
func NDJSON[T any](w io.Writer, calls Calls, line func(history.Invocation) T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i, err := range calls {
		if err != nil {
			return err
		}
		if err := e.Encode(line(i)); err != nil {
			return err
		}
	}
	return nil
}
