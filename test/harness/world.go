// Package harness makes calls in worlds of their own, with and without the shim: a home, a project
// and programs on PATH; with the real CLIs a stand-in for the model too. Calls differ in their
// streams, and in the signals and faults that they meet.
//
// Invariant: only calls of a world reach it, and it connects only to its own stand-in.
package harness

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"reprise/internal/standin"
	"reprise/rewrite"
	_ "reprise/rewrite/tool" // registers the tools
	"reprise/test/markers"
	"reprise/test/toolbox"

	_ "github.com/mattn/go-sqlite3" // the driver of newestRow
)

// A World is a home, a project, programs on PATH and a model.
type World struct {
	Tool    string
	Root    string
	Home    string
	Project string
	Tmp     string               // for temporary files
	Model   *standin.Server      // nil if no real CLI runs
	User    *syscall.SysProcAttr // who makes the calls, nil for this process's own user

	running atomic.Int32 // calls under way
	passed  atomic.Int64 // the sum of all pauses

	ids  []string // the recorded sessions of calls, in order
	env  []string
	path []string // the directories of programs, the shims' first if there are any
	bin  string   // where the real CLI is
}

// Bare creates a world without a model below root, in which programs are found in the directories
// of path only.
func Bare(root string, path ...string) (*World, error) {
	w := &World{Root: root, Home: filepath.Join(root, "home"),
		Project: filepath.Join(root, "project"), Tmp: filepath.Join(root, "tmp"), path: path}
	for _, dir := range []string{w.Home, w.Project, w.Tmp} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make directory: %w", err)
		}
	}
	w.env = append(toolbox.Home(w.Home), "TMPDIR="+w.Tmp, "PATH="+strings.Join(path, ":"))
	return w, nil
}

// wrapped is the directory of a script that runs in place of the real CLI.
const wrapped = "wrapped"

// New creates a world with a model, which is removed when the caller closes it. All have names of
// one length, since the models count it. The shims resume all tools, whatever that costs.
func New(tool, real, shims string, model markers.Options) (*World, error) {
	root := filepath.Join(os.TempDir(), fmt.Sprintf("reprise-%016x", rand.Uint64()))
	path := []string{filepath.Join(root, wrapped), real}
	if shims != "" {
		path = append([]string{shims}, path...)
	}
	w, err := Bare(root, path...)
	if err != nil {
		return nil, err
	}
	w.Tool, w.bin = tool, real
	if err := w.begin(model); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// begin prepares the home for the world's tool, and starts the model.
func (w *World) begin(model markers.Options) (err error) {
	if model.Cache.Now == nil {
		model.Cache.Now = func() time.Time { return time.Now().Add(time.Duration(w.passed.Load())) }
	}
	if w.Model, err = markers.Start(model); err != nil {
		return err
	}
	if w.env, err = Setup(w.Tool, w.Home, w.Model.URL()); err != nil {
		return err
	}
	path := strings.Join(w.path, ":") + ":" + os.Getenv("PATH")
	w.env = append(w.env, "PATH="+path, "TMPDIR="+w.Root)
	if variable := caches[w.Tool]; variable != "" {
		w.env = append(w.env, variable+"="+filepath.Join(w.bin, ".unpacked"))
	}
	// codex works in repositories only.
	_, err = toolbox.Output("git", "init", "-q", w.Project)
	// codex runs commands in a login shell, and the system's profile can set PATH.
	profile := fmt.Sprintf("export PATH=%q\n", path)
	return errors.Join(err, w.Configure(ResumesAll),
		toolbox.Put(filepath.Join(w.Home, ".profile"), profile, 0o600))
}

// Close stops the model and removes the world.
func (w *World) Close() (err error) {
	if w.Model != nil {
		err = w.Model.Close()
	}
	return errors.Join(err, os.RemoveAll(w.Root))
}

// ResumesAll is a configuration in which all tools are resumed, whatever their resumes cost.
const ResumesAll = "dearer = \"resume\"\n"

// Configure writes the configuration of the shims.
func (w *World) Configure(text string) error {
	return put(filepath.Dir(w.Config()), map[string]string{"config.toml": text})
}

// Config returns the file with the configuration of the shims.
func (w *World) Config() string {
	return filepath.Join(w.Home, ".config", "reprise", "config.toml")
}

// State returns the directory of the shim's ledger and log.
func (w *World) State() string { return filepath.Join(w.Home, ".local", "state", "reprise") }

// Ledger returns the shim's ledger.
func (w *World) Ledger() string { return filepath.Join(w.State(), "ledger.db") }

// Pause lets time pass for the model's cache and for the shims: their records are as much older.
func (w *World) Pause(d time.Duration) error {
	w.passed.Add(int64(d))
	if _, err := os.Stat(w.Ledger()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return AgeLedger(w.Ledger(), d)
}

// AgeLedger makes all that a ledger has recorded older.
func AgeLedger(path string, by time.Duration) error {
	db, err := OpenLedger(path)
	if err != nil {
		return fmt.Errorf("age ledger: %w", err)
	}
	defer db.Close()
	for _, statement := range []string{
		"UPDATE sessions SET created = created - ?1, last_used = last_used - ?1",
		"UPDATE chains SET created = created - ?1, updated = updated - ?1",
		"UPDATE calls SET started = started - ?1",
		"UPDATE meta SET value = value - ?1 WHERE name IN ('prune', 'prune_superseded')",
	} {
		if _, err := db.Exec(statement, by.Milliseconds()); err != nil {
			return fmt.Errorf("age ledger: %w", err)
		}
	}
	return nil
}

// NoteID makes {id1}, {id2} and so on stand for the newest session in later calls.
func (w *World) NoteID() {
	id, _ := w.NewestID() // fill reports that there was none
	w.ids = append(w.ids, id)
}

// SessionFiles returns patterns, below the home, of files that each hold one session of a tool. A
// tool with a database has none.
func SessionFiles(tool rewrite.Tool) []string {
	switch d := tool.Descriptor(); {
	case d.SessionQuery != "":
		return nil
	case d.Name == "vibe": // a session has several journals
		return []string{"unified/*/meta.json", "session_*/meta.json"}
	}
	paths := rewrite.SessionPaths(tool, "", "", "????????-????-????-????-????????????")
	return paths[len(paths)-1:]
}

// Transcripts returns the session files, the oldest first.
func (w *World) Transcripts() ([]string, error) {
	tool, _ := rewrite.Lookup(w.Tool)
	home := tool.Descriptor().Home(w.lookup)
	var files []string
	for _, pattern := range SessionFiles(tool) {
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

// NewestID returns the ID of the session that was written last, from the tool's database, the name
// of the file or the beginning.
func (w *World) NewestID() (string, error) {
	if tool, _ := rewrite.Lookup(w.Tool); tool.Descriptor().SessionQuery != "" {
		return w.newestRow(tool)
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
func (w *World) newestRow(tool rewrite.Tool) (id string, err error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(tool.Descriptor().Home(w.lookup),
		tool.Descriptor().Paths[0])+"?mode=ro&_busy_timeout=1000")
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.QueryRow("SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_updated " +
		"DESC LIMIT 1").Scan(&id)
	if err != nil {
		return "", fmt.Errorf("find the session of %s: %w", w.Tool, err)
	}
	return id, nil
}
