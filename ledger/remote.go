package ledger

import (
	"context"
	"os/exec"
	"time"

	"reprise/ledger/decide"
)

// A Remote is the Book of a store that machines share. No package of the core implements a Remote:
// a program passes the function that opens one.
type Remote interface {
	Book
	// Job names the job of a call in names of files.
	Job(*Call) string
	// Identity returns the identity of a call.
	Identity(*Call) Identity
	// Restore brings the files of the session that the call resumes to this machine. paths returns
	// where they belong, relative to the tool's home, from the session's ID and file. If Restore
	// fails, the resume must be abandoned for the reason.Code in the error.
	Restore(ctx context.Context, t *Ticket, paths func(id, file string) []string) error
	// Renew prolongs the time that others wait for the call.
	Renew(*Ticket, decide.Millis) error
	// FinishWithin is Ledger.Finish. If the context ends before the store has the session, it
	// returns the work that is left.
	FinishWithin(ctx context.Context, t *Ticket, turns ...*Outcome) (left []byte, err error)
	// Complete does the work that FinishWithin left.
	Complete(ctx context.Context, left []byte) error
	// Reset ends the sessions that a chain has in the store, and counts its records there.
	Reset(ctx context.Context, c ChainName, now decide.Millis) (records int64, err error)
	// Forget removes a chain from the store, with the files of the sessions, and counts these. It
	// fails with ErrInUse if a run has a session of it. With dry it only counts.
	Forget(ctx context.Context, c ChainName, now decide.Millis,
		dry bool) (sessions int64, err error)
	// Close tells the helper to end once it has carried out all requests.
	Close()
	// Stop ends the helper now, and waits for its end.
	Stop()
}

// OpenRemote opens a store, without waiting for it.
type OpenRemote func(RemoteOptions) (Remote, error)

// RemoteOptions say which store a program uses, and for which directory.
type RemoteOptions struct {
	Helper       string // the path of the program that speaks with the store
	Environ      []string
	Start        func(*exec.Cmd) error // starts it
	URL          string
	Key, KeyFile string
	Timeout      time.Duration // to load and take, and again if another call was faster
	Upload       time.Duration // for a bundle to be brought or stored, with the register

	Local   *Ledger
	Project string
	Host    string // the name of this machine
	Place   string // a digest that tells the call's directory from all others
	// reports whether the directory has a content, or had it in a recent commit
	HasTree func(tree string) bool
}

// A RemoteError is an error of a store.
type RemoteError interface {
	error
	Hint() string  // advice, "" if there is none
	Lasting() bool // the calls of the next moment would fail too
}

// An Identity has the values that must be equal for two machines to share a call's sessions.
type Identity struct {
	Name      string `json:"name" doc:"equal on two machines if all below is, and task, role and tool"`
	Project   string `json:"project" doc:"name of the project"`
	Directory string `json:"directory" doc:"the working directory"`
	Home      string `json:"home" doc:"the tool's home"`
	// "" if the caller does
	Scope string `json:"rule,omitempty" doc:"the rule that names task and role"`
}
