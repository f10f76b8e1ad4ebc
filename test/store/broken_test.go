package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"reprise/fleet/store"
	"reprise/ledger/decide"
)

// A fault is a mistake put in on purpose, which the checker must find.
type fault string

// The faults.
const (
	none       fault = ""
	conditions fault = "conditions" // the server ignores conditions on writes
	lease      fault = "lease"      // a session with an expired lease is resumed
	// a run finishes without looking whether it still holds the session
	holder fault = "holder"
	reuse  fault = "bundle" // a session's bundles have the same name
)

// An ignoring engine ignores conditions.
type ignoring struct{ store.Store }

// Swap implements store.Store.
func (s ignoring) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	version, err := s.Store.Swap(ctx, key, old, value)
	for errors.Is(err, store.ErrMoved) {
		now, failed := s.Store.Read(ctx, key)
		if failed != nil && !errors.Is(failed, store.ErrAbsent) {
			return "", failed
		}
		version, err = s.Store.Swap(ctx, key, now.Version, value)
	}
	return version, err
}

// An overwriting engine lets bundles be made twice.
type overwriting struct{ store.Store }

// Swap implements store.Store.
func (s overwriting) Swap(ctx context.Context, name, old string, content []byte) (string, error) {
	if strings.HasPrefix(name, "b/") {
		if err := s.Delete(ctx, name); err != nil {
			return "", err
		}
	}
	return s.Store.Swap(ctx, name, old, content)
}

func (f fault) engine(s store.Store) store.Store {
	switch f {
	case conditions:
		return ignoring{s}
	case reuse:
		return overwriting{s}
	default:
		return s
	}
}

// expiring registers show sessions with expired leases as live.
type expiring struct {
	store.Shared
	now func() decide.Millis
}

// List implements store.Shared.
func (e expiring) List(ctx context.Context, opening store.Name, limit int) ([]store.Register, bool,
	error) {
	registers, more, err := e.Shared.List(ctx, opening, limit)
	for i, r := range registers {
		var failed error
		registers[i], failed = e.expire(r)
		err = errors.Join(err, failed)
	}
	return registers, more, err
}

func (e expiring) expire(r store.Register) (store.Register, error) {
	var content map[string]json.RawMessage
	var sessions []map[string]json.RawMessage
	if err := json.Unmarshal(r.Value, &content); err != nil {
		return r, err
	}
	if err := json.Unmarshal(content["sessions"], &sessions); err != nil {
		return r, err
	}
	for _, session := range sessions {
		var expires decide.Millis
		if until, set := session["held_until"]; set {
			if err := json.Unmarshal(until, &expires); err != nil {
				return r, err
			}
		}
		if bytes.Equal(session["state"], []byte(`"running"`)) && expires < e.now() {
			session["state"] = json.RawMessage(`"live"`)
		}
	}
	changed, err := json.Marshal(sessions)
	if err != nil {
		return r, err
	}
	content["sessions"] = changed
	value, err := json.Marshal(content)
	r.Value = value
	return r, err
}

// unheld registers let a run finish even if another one holds the session.
type unheld struct{ store.Shared }

// Swap implements store.Shared.
func (u unheld) Swap(ctx context.Context, name store.Name, old string, value []byte) (string,
	error) {
	version, err := u.Shared.Swap(ctx, name, old, value)
	if errors.Is(err, store.ErrMoved) && bytes.Contains(value, []byte(`"live"`)) {
		now, failed := store.One(u.List(ctx, name, 1))
		if failed != nil {
			return "", failed
		}
		return u.Shared.Swap(ctx, name, now.Version, value)
	}
	return version, err
}

func (f fault) registers(r store.Shared, now func() decide.Millis) store.Shared {
	switch f {
	case lease:
		return expiring{r, now}
	case holder:
		return unheld{r}
	default:
		return r
	}
}

// here are bundles that are packed from the machine's own home, which has the same name on all of
// them.
type here struct {
	store.Shared
	runner *runner
}

// Save implements store.Shared.
func (h here) Save(ctx context.Context, _ string, paths []string) (store.Bundle, error) {
	return h.Shared.Save(ctx, h.runner.home, paths)
}

// Load implements store.Shared.
func (h here) Load(ctx context.Context, b store.Bundle, _ string, paths, replace []string) error {
	return h.Shared.Load(ctx, b, h.runner.home, paths, replace)
}

// reusing bundles have their session's name.
type reusing struct {
	store.Shared
	engine store.Store
}

// Save implements store.Shared.
func (r reusing) Save(ctx context.Context, root string, paths []string) (store.Bundle, error) {
	content, err := os.ReadFile(filepath.Join(root, paths[0]))
	if err != nil {
		return store.Bundle{}, err
	}
	b := store.Bundle{Name: "b/" + filepath.Base(paths[0]), Digest: "not looked at"}
	_, err = r.engine.Swap(ctx, b.Name, "", content)
	return b, err
}

// Load implements store.Shared.
func (r reusing) Load(ctx context.Context, b store.Bundle, root string, paths, _ []string) error {
	e, err := r.engine.Read(ctx, b.Name)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, paths[0]), e.Content, 0o600)
}

// Drop implements store.Shared.
func (r reusing) Drop(context.Context, ...string) error { return nil }

func (f fault) bundles(s store.Shared, r *runner) store.Shared {
	if f == reuse {
		s = reusing{s, r.connection}
	}
	return here{s, r}
}
