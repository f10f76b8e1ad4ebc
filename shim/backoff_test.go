package shim

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/config"
	"reprise/test/toolbox"
)

func TestStoreIsNotTriedAfterAFailure(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	c := &found{asked: &asked{env: Env{Environ: []string{"XDG_STATE_HOME=" + state}}, log: &log{}}}
	store := config.Store{URL: "s3://host/db", Key: "the-key"}
	now := time.Date(2026, 11, 22, 16, 0, 0, 0, time.UTC)
	if c.storeDown(store, now) {
		t.Error("without a note it is down")
	}
	if _, err := LastStoreFailure(c.env.Own); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a note: %v", err)
	}
	c.noteStoreDown(store, now, errors.New("dial s3://host/db with the-key: refused"))
	for after, want := range map[time.Duration]bool{
		0: true, time.Second: true, storePause - 1: true, storePause: false, time.Hour: false,
		-time.Millisecond: false, -time.Hour: false, // the clock was set back
	} {
		if got := c.storeDown(store, now.Add(after)); got != want {
			t.Errorf("after %v it is down: %v, want %v", after, got, want)
		}
	}
	if c.storeDown(config.Store{URL: "s3://another"}, now) {
		t.Error("another store is down")
	}
	f, err := LastStoreFailure(c.env.Own)
	if err != nil || f.Store != "s3://host/db" || !f.When.Equal(now) ||
		f.Why != "dial ... with ...: refused" {
		t.Errorf("%+v, %v", f, err)
	}
	c.noteStoreDown(store, now.Add(time.Minute), errors.New(strings.Repeat("é", maxFailureFile)))
	if !c.storeDown(store, now.Add(time.Minute)) {
		t.Error("a second failure is not noted")
	}
	files, err := os.ReadDir(filepath.Join(state, "reprise"))
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if info, err := files[0].Info(); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestStoreFailureCannotBeRead(t *testing.T) {
	now := time.Date(2026, 11, 22, 16, 0, 0, 0, time.UTC)
	store := config.Store{URL: "s3://bucket"}
	good, err := json.Marshal(StoreFailure{Store: store.URL, When: now})
	if err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func(t *testing.T, path string) error{
		"empty": func(_ *testing.T, path string) error { return os.WriteFile(path, nil, 0o600) },
		"no note": func(_ *testing.T,
			path string) error {
			return os.WriteFile(path, []byte("[]"), 0o600)
		},
		"too large": func(_ *testing.T, path string) error {
			return os.WriteFile(path, append(good, make([]byte, maxFailureFile)...), 0o600)
		},
		"a link to a good one": func(t *testing.T, path string) error {
			other := filepath.Join(t.TempDir(), "other")
			toolbox.Write(t, other, string(good))
			return os.Symlink(other, path)
		},
		"a link to nothing": func(t *testing.T,
			path string) error {
			return os.Symlink("/nowhere", path)
		},
		"a directory": func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			c := &found{asked: &asked{env: Env{Environ: []string{"XDG_STATE_HOME=" +
				state}}, log: &log{}}}
			path := filepath.Join(state, "reprise", "store-failure.json")
			toolbox.Write(t, filepath.Join(state, "reprise", "other"), "")
			if err := prepare(t, path); err != nil {
				t.Fatal(err)
			}
			target, _ := os.Readlink(path)
			before, _ := os.ReadFile(target)
			if c.storeDown(store, now) {
				t.Error("it is down")
			}
			c.noteStoreDown(store, now, errors.New("refused"))
			if got, want := c.storeDown(store, now), name != "a directory"; got != want {
				t.Errorf("after a failure it is down: %v, want %v", got, want)
			}
			if after, _ := os.ReadFile(target); string(after) != string(before) {
				t.Error("the link's target has changed")
			}
			files, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(files) != 2 {
				t.Errorf("%v, %v", files, err)
			}
		})
	}
}

// A file that cannot be written keeps no call from running.
func TestStoreFailureCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	toolbox.Write(t, file, "")
	for _, environ := range [][]string{nil, {"XDG_STATE_HOME=" + file}} {
		c := &found{asked: &asked{env: Env{Environ: environ}, log: &log{}}}
		c.noteStoreDown(config.Store{URL: "s3://bucket"}, time.Now(), errors.New("refused"))
		if c.storeDown(config.Store{URL: "s3://bucket"}, time.Now()) {
			t.Error("it is down")
		}
	}
}
