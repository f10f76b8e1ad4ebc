// Package wire connects a program with the helper that keeps its shared store: JSON, one message a
// line, over the helper's standard input and output. Client is the program's side, Serve the
// helper's.
//
// It links no engine and no library that is large, since the shim imports it. Invariants: each
// request ends with its context; a helper that is missing, dies or answers nonsense counts as a
// store that cannot be reached; and requests are carried out even if the client has gone.
package wire

import (
	"errors"
	"slices"
	"time"

	"reprise/fleet/store"
)

// protocol is the version of the messages. A helper serves only clients of its own.
const protocol = 7

// A Config is the configuration of the helper. It goes through the pipe: arguments are public.
type Config struct {
	URL string // of the store
	Key string // the text of the key
}

// The verbs of a request.
const (
	verbList   = "list"
	verbSwap   = "swap"
	verbRemove = "remove"
	verbSave   = "save"
	verbLoad   = "load"
	verbDrop   = "drop"
)

// A greeting is the first line to the helper.
type greeting struct {
	Protocol int    `json:"protocol"`
	Config   Config `json:"config"`
}

// A request is each other line to the helper.
type request struct {
	ID      int64         `json:"id"`
	Verb    string        `json:"verb"`
	Timeout time.Duration `json:"timeout"`
	// the name, and the other fields that the verb needs
	Register store.Register `json:"register,omitzero"`
	Limit    int            `json:"limit,omitempty"`
	Root     []byte         `json:"root,omitempty"` // bytes, as store.Texts
	Paths    store.Texts    `json:"paths,omitempty"`
	Replace  []string       `json:"replace,omitempty"`
	Bundle   store.Bundle   `json:"bundle,omitzero"`
	Names    []string       `json:"names,omitempty"`
}

// An answer is a line from the helper, one for each request.
type answer struct {
	ID int64 `json:"id"`
	// the texts of the store's errors that the error is
	Kinds     []string         `json:"kinds,omitempty"`
	Text      string           `json:"text,omitempty"` // of the error
	Version   string           `json:"version,omitempty"`
	Others    bool             `json:"others,omitempty"`
	Registers []store.Register `json:"registers,omitempty"`
	Bundle    store.Bundle     `json:"bundle,omitzero"`
}

func (a *answer) encodeError(err error) {
	a.Text = err.Error()
	for _, kind := range store.Errors {
		if errors.Is(err, kind) {
			a.Kinds = append(a.Kinds, kind.Error())
		}
	}
}

// decodeError returns the error of an answer, nil if it has none.
func (a *answer) decodeError() error {
	if a.Text == "" {
		return nil
	}
	e := &remoteError{text: a.Text}
	for _, kind := range store.Errors {
		if slices.Contains(a.Kinds, kind.Error()) {
			e.kinds = append(e.kinds, kind)
		}
	}
	return e
}

// A remoteError is an error that the helper reported.
type remoteError struct {
	text  string
	kinds []error
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.kinds }
