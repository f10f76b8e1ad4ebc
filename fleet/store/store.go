// Package store defines a shared store: entries, which are replaced by compare-and-swap, and the
// key that seals them. The directories hold the engines.
//
// It never reads a clock, knows nothing of sessions, and links no engine: the shim imports it. The
// invariant: of all writers that replace the same version of an entry, at most one succeeds.
package store

import (
	"context"
	"encoding/json"
)

// A Store is an engine. The methods are safe for concurrent use and keep no state between calls but
// connections. They never retry a write: a late repetition is told from a first try by the version
// only. A context's end is an error that wraps context.Cause.
type Store interface {
	// Read returns an entry. It fails with ErrAbsent if there is none.
	Read(ctx context.Context, name string) (Entry, error)
	// Swap replaces an entry's content if the version is still old and returns the new version.
	// With old "" the entry must not exist. If it has another version Swap fails with ErrMoved;
	// if it is not known whether the write has arrived, or will, with ErrUnknown.
	Swap(ctx context.Context, name, old string, content []byte) (version string, err error)
	// List returns the names of all entries that begin with prefix, in order.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes entries. Those that do not exist count as removed.
	Delete(ctx context.Context, names ...string) error
}

// An Error is a kind of failure. Engines wrap it with the server's message.
type Error struct {
	text, hint string
	lasting    bool
}

// Error implements error.
func (e *Error) Error() string { return e.text }

// Hint returns advice, "" if there is none.
func (e *Error) Hint() string { return e.hint }

// Lasting reports whether the calls of the next moment would fail too.
func (e *Error) Lasting() bool { return e.lasting }

// The errors of a store.
var (
	ErrAbsent   = &Error{text: "there is no such entry"}
	ErrMoved    = &Error{text: "another process has changed the entry"}
	ErrBroken   = &Error{text: "the entry cannot be unsealed"}
	ErrTooLarge = &Error{text: "the session is larger than is shared"}
	ErrChanged  = &Error{text: "another process has changed the session's local files"}
	ErrKey      = &Error{text: "the store's key cannot be used",
		hint: "set REPRISE_STORE_KEY, REPRISE_STORE_KEY_FILE, or key_file under [store] to 32 " +
			"bytes as 64 " +
			"hexadecimal digits, as openssl rand -hex 32 makes them; a key's file must be private"}
	ErrNewer = &Error{text: "a newer reprise has written the store",
		hint: "install the newer reprise"}
	ErrNoStore = &Error{text: "there is no such bucket", lasting: true,
		hint: "create the bucket, or correct the URL"}
	ErrDenied = &Error{text: "the store does not accept the credentials", lasting: true,
		hint: "check the store's credentials: those of AWS's tools (AWS_ACCESS_KEY_ID, " +
			"AWS_PROFILE)"}
	ErrUnsafe = &Error{text: "the store ignores conditions on writes", lasting: true,
		hint: "use a server that keeps If-Match and If-None-Match on writes; nothing is shared " +
			"until then"}
	ErrUnreachable = &Error{text: "the store cannot be reached", lasting: true,
		hint: unreachableHint}
	ErrUnknown = &Error{text: "it is not known whether the write has arrived", lasting: true,
		hint: unreachableHint}
)

// Errors are all errors of a store.
var Errors = []*Error{ErrAbsent, ErrMoved, ErrBroken, ErrTooLarge, ErrChanged, ErrKey, ErrNewer,
	ErrNoStore, ErrDenied,
	ErrUnsafe, ErrUnreachable, ErrUnknown}

const unreachableHint = "check the URL and the network; until then every call is as without a store"

// An Entry is a sealed register or bundle as an engine has it.
type Entry struct {
	Content []byte
	Version string
}

// A Name is the subject of a register, in clear text. The store holds a keyed digest of it.
type Name struct {
	Kind string // Task or Opening
	Of   Texts  // texts that are equal where two machines mean the same register
	ID   string // of one of the registers with this name
}

// Texts are bytes in JSON: strings would lose all that is not UTF-8, and join two directories.
type Texts []string

// MarshalJSON implements json.Marshaler.
func (t Texts) MarshalJSON() ([]byte, error) {
	var list [][]byte
	for _, text := range t {
		list = append(list, []byte(text))
	}
	return json.Marshal(list)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Texts) UnmarshalJSON(list []byte) error {
	var texts [][]byte
	err := json.Unmarshal(list, &texts)
	*t = nil
	for _, text := range texts {
		*t = append(*t, string(text))
	}
	return err
}

// The kinds of registers.
const (
	Task    = "task"    // registers of the chains of a named task
	Opening = "opening" // registers of unnamed chains that begin alike
)

// Kinds are the kinds of registers.
var Kinds = []string{Task, Opening}

// A Register is a register's unsealed content.
type Register struct {
	Name    Name
	Value   []byte
	Version string
	// Damaged reports that the register cannot be unsealed. It has no value, and of the name maybe
	// no ID. It can be replaced or removed as any other.
	Damaged bool
	Entry   string // where a damaged register lies, for Remove
}

// A Shared store is open: it has registers, and the packed sessions of machines.
type Shared interface {
	// List returns the registers of a name, at most limit, and if there are more. A name without an
	// ID stands for all IDs, without texts for all of its kind.
	List(ctx context.Context, name Name, limit int) (registers []Register, more bool, err error)
	// Swap replaces a register's value if the version is still old, "" for a register that does not
	// exist. It reads an answer back that was lost: it fails with ErrUnknown only if that is not
	// possible, or a late write can still arrive.
	Swap(ctx context.Context, name Name, old string, value []byte) (version string, err error)
	// Remove removes a register if it still has this version. It fails with ErrMoved otherwise.
	Remove(ctx context.Context, r Register) error
	// Save packs files below root and puts them into the store under a new name. The first path
	// must exist; a directory counts with everything below it. Paths can begin with
	// rewrite.CommonFiles. If it fails, it returns no bundle: nothing can go on from a name that
	// might not be stored.
	Save(ctx context.Context, root string, paths []string) (Bundle, error)
	// Load unpacks a bundle below root. It writes nothing if the files there are the bundle's. It
	// replaces other ones only if replace has their digest, and fails with ErrChanged otherwise.
	Load(ctx context.Context, b Bundle, root string, paths, replace []string) error
	// Drop removes bundles.
	Drop(ctx context.Context, names ...string) error
}

// One returns the register that List has found. It fails with ErrAbsent if there is none.
func One(registers []Register, _ bool, err error) (Register, error) {
	if err == nil && len(registers) == 0 {
		err = ErrAbsent
	}
	if err != nil {
		return Register{}, err
	}
	return registers[0], nil
}

// A Bundle names the packed files of one session in a store. It is never changed.
type Bundle struct {
	Name   string
	Digest string // SHA-256 of the files' paths and contents, in hex
}
