// Package harness runs the real CLIs, with and without the shim in front of them, each in a world of
// its own: a home, a project and a stand-in for the model.
//
// Its invariant: only its own calls reach a world, and it connects only to its own stand-in.
package harness

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"reprise/internal/standin"
	"reprise/rewrite"

	_ "github.com/mattn/go-sqlite3" // the driver of newestRow
)

// A World is a home, a project and a model.
type World struct {
	Tool    string
	Root    string
	Project string
	Model   *standin.Server

	running atomic.Int32 // calls under way
	passed  atomic.Int64 // the sum of all pauses

	ids   []string // the recorded sessions of calls, in order
	env   []string
	real  string // the directory with the real CLI
	shims string // the directory with the shims, "" if there are none
}

// New creates a world below root, an existing directory. The caller closes it.
func New(root, tool, real, shims string) (*World, error) {
	return NewWith(root, tool, real, shims, standin.Options{})
}

// NewWith is New with another model. The shims resume all tools, also those that lose the provider's cache.
func NewWith(root, tool, real, shims string, model standin.Options) (*World, error) {
	w := &World{Tool: tool, Root: root, Project: filepath.Join(root, "project"), real: real, shims: shims}
	home := filepath.Join(root, "home")
	config := filepath.Join(home, ".config", "reprise")
	for _, dir := range []string{w.Project, config} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make folder: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte("dearer = \"resume\"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("configure the shims: %w", err)
	}
	// codex works in repositories only.
	if out, err := exec.Command("git", "init", "-q", w.Project).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a repository: %w: %s", err, out)
	}
	if model.Now == nil {
		model.Now = func() time.Time { return time.Now().Add(time.Duration(w.passed.Load())) }
	}
	var err error
	if w.Model, err = standin.Start(model); err != nil {
		return nil, err
	}
	if w.env, err = standin.Setup(tool, home, w.Model.URL()); err != nil {
		w.Model.Close()
		return nil, err
	}
	path := real + ":" + os.Getenv("PATH")
	if shims != "" {
		path = shims + ":" + path
	}
	w.env = append(w.env, "PATH="+path, "TMPDIR="+root)
	if t, ok := rewrite.Lookup(tool); ok && t.Descriptor().StandIn.Cache != "" {
		w.env = append(w.env, t.Descriptor().StandIn.Cache+"="+filepath.Join(real, ".unpacked"))
	}
	// codex runs commands in a login shell, and the system's profile may set PATH.
	profile := fmt.Sprintf("export PATH=%q\n", path)
	if err := os.WriteFile(filepath.Join(home, ".profile"), []byte(profile), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("write profile: %w", err), w.Model.Close())
	}
	return w, nil
}

// Close stops the model.
func (w *World) Close() error { return w.Model.Close() }

// State returns the directory of the shim's ledger and log.
func (w *World) State() string { return filepath.Join(w.Root, "home", ".local", "state", "reprise") }

// Pause lets time pass for the model's cache and for the shims: what they have recorded is as much older.
func (w *World) Pause(d time.Duration) error {
	w.passed.Add(int64(d))
	path := filepath.Join(w.State(), "ledger.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return AgeLedger(path, d)
}

// AgeLedger makes all that a ledger has recorded older.
func AgeLedger(path string, by time.Duration) error {
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=rw&_busy_timeout=5000")
	if err != nil {
		return fmt.Errorf("age ledger: %w", err)
	}
	defer db.Close()
	for _, statement := range []string{
		"UPDATE sessions SET created = created - ?1, last_used = last_used - ?1",
		"UPDATE chains SET created = created - ?1, updated = updated - ?1",
		"UPDATE invocations SET started = started - ?1",
		"UPDATE meters SET last = last - ?1",
		"UPDATE told SET told = told - ?1",
	} {
		if _, err := db.Exec(statement, by.Milliseconds()); err != nil {
			return fmt.Errorf("age ledger: %w", err)
		}
	}
	return nil
}

// NoteID makes {id1}, {id2} and so on stand for the newest session in later calls.
func (w *World) NoteID() error {
	id, err := w.NewestID()
	w.ids = append(w.ids, id)
	return err
}

// Transcripts returns the session files, the oldest first.
func (w *World) Transcripts() ([]string, error) {
	tool, _ := rewrite.Lookup(w.Tool)
	home := tool.Descriptor().Home(w.lookup)
	var files []string
	for _, pattern := range tool.Descriptor().Sessions {
		found, err := filepath.Glob(filepath.Join(rewrite.Literal(home), pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	age := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(age(a), age(b)) })
	return files, nil
}

// lookup returns a variable of the world's environment.
func (w *World) lookup(name string) (value string) {
	for _, entry := range w.env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// NewestID returns the ID of the session that was written last, from the tool's database, the name of
// its file or its beginning.
func (w *World) NewestID() (string, error) {
	if tool, _ := rewrite.Lookup(w.Tool); tool.Descriptor().Database != "" {
		return w.newestRow(tool.Descriptor())
	}
	files, err := w.Transcripts()
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fmt.Errorf("find the session of %s: there is none", w.Tool)
	}
	newest := files[len(files)-1]
	text, err := os.ReadFile(newest)
	if err != nil {
		return "", err
	}
	id := uuid.FindString(filepath.Base(newest) + "\n" + string(text))
	if id == "" {
		return "", fmt.Errorf("find the session of %s: no id in %s", w.Tool, filepath.Base(newest))
	}
	return id, nil
}

// newestRow is NewestID for sessions in a database, opencode's or kilo's.
func (w *World) newestRow(d *rewrite.Descriptor) (id string, err error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(d.Home(w.lookup), d.Database)+"?mode=ro&_busy_timeout=1000")
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.QueryRow("SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT 1").Scan(&id)
	if err != nil {
		return "", fmt.Errorf("find the session of %s: %w", w.Tool, err)
	}
	return id, nil
}

// Build builds the shims, shimctl and the store's helper into a directory.
func Build(dir string) error {
	if out, err := exec.Command("go", "build", "-o", dir+"/", "reprise/cmd/shim", "reprise/cmd/shimctl", "reprise/cmd/reprise-store").CombinedOutput(); err != nil {
		return fmt.Errorf("build the shims: %w\n%s", err, out)
	}
	shim := filepath.Join(dir, "shim")
	for _, tool := range rewrite.Names {
		if err := os.Link(shim, filepath.Join(dir, tool)); err != nil {
			return fmt.Errorf("name a shim: %w", err)
		}
	}
	return os.Remove(shim)
}
