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
	"time"

	"reprise/ledger"
)

// Calls are invocations as they are read.
type Calls = iter.Seq2[ledger.Invocation, error]

// Schema names the format of a line of NDJSON.
const Schema = "shimctl.invocation/1"

// invocation is a line of NDJSON.
type invocation struct {
	Schema       string    `json:"schema"`
	ID           int64     `json:"id"`
	Started      time.Time `json:"started"`
	Milliseconds *int64    `json:"duration_ms"`
	Tool         string    `json:"tool"`
	Directory    string    `json:"directory"`
	Chain        *int64    `json:"chain"`
	Task         string    `json:"task"`
	Role         string    `json:"role"`
	Rule         string    `json:"rule"`
	Mode         string    `json:"mode"`
	Reason       string    `json:"reason"`
	Detail       string    `json:"detail"`
	Arm          string    `json:"arm"`
	FellBack     string    `json:"fell_back"`
	ResumedFrom  string    `json:"resumed_from"`
	Session      string    `json:"session"`
	Format       string    `json:"format"`
	ModelAsked   string    `json:"model_asked"`
	Model        string    `json:"model"`
	PromptBytes  int64     `json:"prompt_bytes"`
	SentBytes    int64     `json:"sent_bytes"`
	Input        *int64    `json:"input_tokens"`
	CacheRead    *int64    `json:"cache_read_tokens"`
	CacheWrite   *int64    `json:"cache_write_tokens"`
	Output       *int64    `json:"output_tokens"`
	CostNanoUSD  *int64    `json:"cost_nano_usd"`
	Outcome      *string   `json:"outcome"`
	ExitCode     *int64    `json:"exit_code"`
	Signal       *int64    `json:"signal"`
	Machine      string    `json:"machine,omitempty"` // of calls in a store, as the two below
	FromMachine  string    `json:"from_machine,omitempty"`
	Lost         string    `json:"lost,omitempty"`
}

// NDJSON writes a line with one object for each call.
func NDJSON(w io.Writer, calls Calls) error {
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

func line(i ledger.Invocation) invocation {
	l := invocation{
		Schema: Schema, ID: i.ID, Started: i.Started.Time(), Milliseconds: ledger.OrNull(i.Duration), Tool: i.Tool, Directory: i.Cwd,
		Task: i.Task, Role: i.Role, Rule: i.Rule, Mode: string(i.Mode), Reason: string(i.Reason), Detail: string(i.Detail), Arm: i.Arm,
		FellBack: string(i.FellBack), ResumedFrom: i.ResumedFrom, Session: i.NativeID, Format: string(i.Format),
		ModelAsked: i.Asked, Model: i.Model, PromptBytes: i.PromptBytes, SentBytes: i.SentBytes,
		Input: ledger.OrNull(i.Input), CacheRead: ledger.OrNull(i.CacheRead), CacheWrite: ledger.OrNull(i.CacheWrite), Output: ledger.OrNull(i.Output),
		CostNanoUSD: ledger.OrNull(i.Cost), ExitCode: ledger.OrNull(i.Exit), Signal: ledger.OrNull(i.Signal),
		Machine: i.Machine, FromMachine: i.From, Lost: string(i.Lost),
	}
	if i.Chain != 0 {
		l.Chain = &i.Chain
	}
	if i.Outcome != "" {
		l.Outcome = &i.Outcome
	}
	return l
}
