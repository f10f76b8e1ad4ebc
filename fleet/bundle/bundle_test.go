package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/fleet/store"
	"reprise/rewrite"

	"github.com/klauspost/compress/zstd"
)

var limits = Limits{Size: 1 << 20, Files: 100}

// digestHere returns the digest of the files that belong to a session alone.
func digestHere(t *testing.T, root *os.Root, paths []string) (string, error) {
	chosen, err := selectPaths(paths)
	if err != nil {
		return "", err
	}
	files, err := list(root, selection{own: chosen.own}, limits)
	if err != nil {
		return "", err
	}
	return digestOf(root, files)
}

// tree is a directory with files, by path.
func tree(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, dir)
}

func open(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// contents returns all that is below a root: files by path, directories with a slash.
func contents(t *testing.T, root *os.Root) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() {
			found[name+"/"] = ""
			return nil
		}
		content, err := root.ReadFile(name)
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func pack(t *testing.T, root *os.Root, paths ...string) (content []byte, digest string) {
	t.Helper()
	var b bytes.Buffer
	digest, err := Pack(&b, root, paths, limits)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), digest
}

var session = map[string]string{
	"s/a.jsonl": "one\ntwo\n", "s/a/tool-results/1.txt": strings.Repeat("x", 100_000),
	"s/a/\xff\n": "odd", "s/a-b": "", "tasks/a/1.json": "{}",
	"s/other.jsonl": "not this session's",
}

var paths = []string{"s/a.jsonl", "s/a", "s/a-b", "tasks/a", "gone"}

func TestRoundTrip(t *testing.T) {
	from := tree(t, session)
	then := time.Unix(1_700_000_000, 123_456_789)
	if err := from.Chtimes("s/a.jsonl", then, then); err != nil {
		t.Fatal(err)
	}
	packed, digest := pack(t, from, paths...)
	if here, err := digestHere(t, from, paths); err != nil || here != digest {
		t.Errorf("digest %s, %v, packed as %s", here, err, digest)
	}
	to := tree(t, nil)
	if err := Unpack(t.Context(), stream(packed), digest, to, paths, nil, limits); err != nil {
		t.Fatal(err)
	}
	got := contents(t, to)
	for name, want := range session {
		if name != "s/other.jsonl" && got[name] != want {
			t.Errorf("%q arrived as %.20q", name, got[name])
		}
	}
	if _, ok := got["s/other.jsonl"]; ok || len(got) != 5+5 {
		t.Errorf("unpacked %d entries", len(got))
	}
	file, err := to.Stat("s/a.jsonl")
	dir, err2 := to.Stat("s/a")
	if errors.Join(err, err2) != nil || file.Mode() != 0o600 || !file.ModTime().Equal(then) ||
		dir.Mode().Perm() != 0o700 {
		t.Errorf("file %v of %v, directory %v, %v, %v", file.Mode(), file.ModTime(), dir.Mode(),
			err, err2)
	}
	if here, err := digestHere(t, to, paths); err != nil || here != digest {
		t.Errorf("digest there %s, %v", here, err)
	}
}

func TestDigest(t *testing.T) {
	digest := func(files map[string]string, paths ...string) string {
		d, err := digestHere(t, tree(t, files), paths)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := digest(nil, "a"); d != "" {
		t.Errorf("of nothing: %q", d)
	}
	all := []string{
		digest(map[string]string{"a": "1"}, "a"), digest(map[string]string{"a": "2"}, "a"),
		digest(map[string]string{"b": "1"}, "b"),
		digest(map[string]string{"a": "1", "b": ""}, "a", "b"),
		digest(map[string]string{"a": "", "b": "1"}, "a", "b"),
		digest(map[string]string{"d/a": "1"}, "d"),
	}
	if slices.Sort(all); len(slices.Compact(all)) != 6 {
		t.Errorf("different files have one digest: %q", all)
	}
	if a, b := digest(map[string]string{"d/a": "1", "d/b": "2"}, "d"),
		digest(map[string]string{"d/b": "2", "d/a": "1"}, "d/b", "d", "d/a"); a != b {
		t.Error("the order of paths, or one that is named twice, changes the digest")
	}
}

func TestUnpackReplacesOnlyWhatItMay(t *testing.T) {
	packed, digest := pack(t, tree(t, map[string]string{"s/a": "new", "s/c": "more"}), "s")
	old := map[string]string{"s/a": "old", "s/b": "no longer"}
	before, err := digestHere(t, tree(t, old), []string{"s"})
	if err != nil {
		t.Fatal(err)
	}
	to := tree(t, old)
	if err := Unpack(t.Context(), stream(packed), digest, to, []string{"s"},
		[]string{"else"}, limits); !errors.Is(err, store.ErrChanged) {
		t.Errorf("over other files: %v", err)
	}
	if got := contents(t, to); len(got) != 3 || got["s/a"] != "old" {
		t.Errorf("files are now %q", got)
	}
	if err := Unpack(t.Context(), stream(packed), digest, to, []string{"s"},
		[]string{"else", before}, limits); err != nil {
		t.Errorf("over known files: %v", err)
	}
	if got := contents(t, to); len(got) != 3 || got["s/a"] != "new" || got["s/c"] != "more" {
		t.Errorf("files are now %q", got)
	}
	if err := Unpack(t.Context(), stream(packed), digest, to, []string{"s"},
		nil, limits); err != nil {
		t.Errorf("over its own files: %v", err)
	}
	to = tree(t, map[string]string{"s/a": strings.Repeat("x", int(limits.Size)+1)})
	if err := Unpack(t.Context(), stream(packed), digest, to, []string{"s"},
		[]string{before}, limits); !errors.Is(err, store.ErrChanged) {
		t.Errorf("over more than a bundle can have: %v", err)
	}
	for _, odd := range []func(name string) error{
		func(name string) error { return os.Symlink("b", name) },
		func(name string) error { return os.Mkdir(name, 0o755) },
	} {
		to = tree(t, map[string]string{"s/b": ""})
		if err := odd(filepath.Join(to.Name(), "s/a")); err != nil {
			t.Fatal(err)
		}
		now, err := digestHere(t, tree(t, map[string]string{"s/b": ""}), []string{"s"})
		if err != nil {
			t.Fatal(err)
		}
		if err := Unpack(t.Context(), stream(packed), digest, to, []string{"s"},
			[]string{now}, limits); !errors.Is(err, store.ErrChanged) {
			t.Errorf("over what is no file: %v", err)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	refused := func(what string, want error, root *os.Root, limits Limits, paths ...string) {
		t.Helper()
		if _, err := Pack(io.Discard, root, paths, limits); err == nil ||
			want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	root := tree(t, map[string]string{"d/a": "1", "d/b": "22"})
	refused("a missing first path", fs.ErrNotExist, root, limits, "none", "d")
	refused("too many files", store.ErrTooLarge, root, Limits{Size: 100, Files: 1}, "d")
	refused("too large files", store.ErrTooLarge, root, Limits{Size: 2, Files: 9}, "d")
	refused("a path that leads out", nil, root, limits, "d/../../x")
	refused("an absolute path", nil, root, limits, "/etc/passwd")
	refused("no path", nil, root, limits)
	for what, odd := range map[string]func(string) error{
		"a link": func(name string) error { return os.Symlink("a", name) },
		"a pipe": func(name string) error { return syscall.Mkfifo(name, 0o600) },
	} {
		name := filepath.Join(root.Name(), "d/odd")
		if err := odd(name); err != nil {
			t.Fatal(err)
		}
		refused(what, nil, root, limits, "d")
		refused(what+" itself", nil, root, limits, "d/odd")
		os.Remove(name)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(root.Name(), "out")); err != nil {
		t.Fatal(err)
	}
	refused("a link that leads out", nil, root, limits, "out/x")
}

// A writer that changes a file once something has been written.
type changer struct{ change func() }

func (c *changer) Write(b []byte) (int, error) {
	c.change()
	return len(b), nil
}

func TestPackSeesChanges(t *testing.T) {
	first, second := noise(900_000), strings.Repeat("a", 900_000)
	cases := map[string]func(root *os.Root) error{
		"grown":   func(root *os.Root) error { return root.WriteFile("d/1", []byte(second+"a"), 0o600) },
		"shrunk":  func(root *os.Root) error { return root.WriteFile("d/1", []byte("a"), 0o600) },
		"changed": func(root *os.Root) error { return root.WriteFile("d/0", []byte(second), 0o600) },
		"added":   func(root *os.Root) error { return root.WriteFile("d/2", nil, 0o600) },
	}
	for what, change := range cases {
		root := tree(t, map[string]string{"d/0": first, "d/1": second})
		w := &changer{func() {
			if err := change(root); err != nil {
				t.Error(err)
			}
		}}
		if _, err := Pack(w, root,
			[]string{"d"}, Limits{1 << 30, 9}); !errors.Is(err, store.ErrChanged) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// noise is text that does not compress.
func noise(n int) string {
	b, x := make([]byte, n), uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}

// archive packs entries as they are.
func archive(entries ...tar.Header) []byte {
	var b bytes.Buffer
	compressed, err := zstd.NewWriter(&b, zstd.WithWindowSize(maxWindow))
	if err != nil {
		panic(err)
	}
	w := tar.NewWriter(compressed)
	for _, h := range entries {
		if err := w.WriteHeader(&h); err != nil {
			panic(err)
		}
		io.CopyN(w, zeros{}, h.Size)
	}
	w.Close()
	compressed.Close()
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// hostile are bundles that no Pack writes.
var hostile = map[string][]byte{
	"out":          archive(tar.Header{Name: "s/../../x", Typeflag: tar.TypeReg}),
	"absolute":     archive(tar.Header{Name: "/tmp/x", Typeflag: tar.TypeReg}),
	"another path": archive(tar.Header{Name: "other/x", Typeflag: tar.TypeReg}),
	"prefix":       archive(tar.Header{Name: "sx", Typeflag: tar.TypeReg}),
	"dots":         archive(tar.Header{Name: "s/./x", Typeflag: tar.TypeReg}),
	"link": archive(tar.Header{Name: "s/x", Linkname: "/etc/passwd",
		Typeflag: tar.TypeSymlink}),
	"hard link": archive(tar.Header{Name: "s/x", Linkname: "s/y", Typeflag: tar.TypeLink}),
	"device":    archive(tar.Header{Name: "s/x", Typeflag: tar.TypeChar}),
	"pipe":      archive(tar.Header{Name: "s/x", Typeflag: tar.TypeFifo}),
	"directory": archive(tar.Header{Name: "s/x/", Typeflag: tar.TypeDir}),
	"twice": archive(tar.Header{Name: "s/x", Typeflag: tar.TypeReg},
		tar.Header{Name: "s/x", Typeflag: tar.TypeReg}),
	"not in order": archive(tar.Header{Name: "s/y", Typeflag: tar.TypeReg},
		tar.Header{Name: "s/x", Typeflag: tar.TypeReg}),
	"file and parent": archive(tar.Header{Name: "s/x", Typeflag: tar.TypeReg},
		tar.Header{Name: "s/x-", Typeflag: tar.TypeReg},
		tar.Header{Name: "s/x/y", Typeflag: tar.TypeReg}),
	"temporary": archive(tar.Header{Name: "s/" + temporary + "x", Typeflag: tar.TypeReg}),
	"attributes": archive(tar.Header{Name: "s/x", Typeflag: tar.TypeReg,
		PAXRecords: map[string]string{"SCHILY.xattr.user.x": "y"}}),
	"bomb": archive(tar.Header{Name: "s/x", Typeflag: tar.TypeReg, Size: 1 << 30}),
	"bomb of two": archive(tar.Header{Name: "s/x", Typeflag: tar.TypeReg, Size: 1 << 19},
		tar.Header{Name: "s/y", Typeflag: tar.TypeReg, Size: 1<<19 + 1}),
	"deep": archive(tar.Header{Name: "s" +
		strings.Repeat("/d", maxDepth), Typeflag: tar.TypeReg}),
	"not a bundle": []byte("GIF89a"),
	"nothing":      {},
}

// Files that other sessions need too are added, and neither compared nor replaced nor removed.
func TestCommonFiles(t *testing.T) {
	files := map[string]string{"p/blobs/0a": "0", "p/blobs/0b": "1", "p/blobs/0b.x": "x",
		"p/other": "o", "p/blobs/dir/0c": "c"}
	for name, content := range session {
		files[name] = content
	}
	from := tree(t, files)
	mixed := append([]string{rewrite.CommonFiles + "p/blobs/*[0-9a-f]", rewrite.CommonFiles +
		"none/*"}, paths...)
	packed, digest := pack(t, from, mixed...)
	if _, without := pack(t, from, paths...); without != digest {
		t.Error("common files count in the digest")
	}
	for what, there := range map[string]map[string]string{
		"nothing":     {},
		"other files": {"p/blobs/0a": "kept as it is", "p/blobs/0f": "f", "p/other": "theirs"},
	} {
		to := tree(t, there)
		if err := Unpack(t.Context(), stream(packed), digest, to, mixed, nil, limits); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		got, want := contents(t, to), map[string]string{"p/blobs/0a": "0", "p/blobs/0b": "1",
			"s/a.jsonl": session["s/a.jsonl"]}
		for name, content := range there {
			want[name] = content
		}
		for name, content := range want {
			if got[name] != content {
				t.Errorf("%s: %s is %q, want %q", what, name, got[name], content)
			}
		}
		for name := range got {
			if strings.HasPrefix(name, "p/") && !strings.HasSuffix(name, "/") && want[name] == "" {
				t.Errorf("%s: there is %s", what, name)
			}
		}
		if here, err := digestHere(t, to, mixed); err != nil || here != digest {
			t.Errorf("%s: digest %s, %v", what, here, err)
		}
	}
	if err := Unpack(t.Context(), stream(packed), digest, tree(t, nil), paths,
		nil, limits); !errors.Is(err, store.ErrBroken) {
		t.Errorf("without their pattern: %v", err)
	}
	for _, wrong := range []string{"../*", "p/[", "/p/*", "p//*", ""} {
		if _, err := digestHere(t, from,
			append(paths[:len(paths):len(paths)], rewrite.CommonFiles+wrong)); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
	if _, err := digestHere(t, from, []string{rewrite.CommonFiles + "p/*"}); err == nil {
		t.Error("common files alone are a session")
	}
}

func TestUnpackRefuses(t *testing.T) {
	many := make([]tar.Header, limits.Files+1)
	for i := range many {
		many[i] = tar.Header{Name: "s/" + string([]byte{byte('a' + i/26), byte('a' + i%26)}),
			Typeflag: tar.TypeReg}
	}
	cases := map[string][]byte{"many": archive(many...)}
	for what, content := range hostile {
		cases[what] = content
	}
	packed, digest := pack(t, tree(t, session), paths...)
	cases["truncated"] = packed[:len(packed)/2]
	for what, content := range cases {
		to := tree(t, map[string]string{"keep": "this"})
		err := Unpack(t.Context(), stream(content), digest, to, []string{"s"}, nil, limits)
		if !errors.Is(err, store.ErrBroken) ||
			strings.Contains(err.Error(), "another digest") && what != "nothing" {
			t.Errorf("%s: %v", what, err)
		}
		if got := contents(t, to); len(got) != 1 {
			t.Errorf("%s left %q", what, got)
		}
	}
	to := tree(t, nil)
	if err := Unpack(t.Context(), stream(packed), strings.Repeat("0", 64), to, paths,
		nil, limits); !errors.Is(err, store.ErrBroken) || len(contents(t, to)) != 0 {
		t.Errorf("another digest: %v, left %q", err, contents(t, to))
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(to.Name(), "s")); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(t.Context(), stream(packed), digest, to, paths, nil, limits); err == nil {
		t.Error("unpacked through a link that leads out")
	}
}

// Whatever a bundle contains, it changes nothing outside the session's paths, and nothing at all if
// it is refused. stream is where a bundle comes from.
func stream(packed []byte) func() (io.Reader, error) {
	return func() (io.Reader, error) { return bytes.NewReader(packed), nil }
}

func FuzzUnpack(f *testing.F) {
	for _, content := range hostile {
		f.Add(content)
	}
	f.Add(archive(tar.Header{Name: "s/x", Typeflag: tar.TypeReg, Size: 10}))
	f.Fuzz(func(t *testing.T, content []byte) {
		above := t.TempDir()
		dir := filepath.Join(above, "home")
		if err := errors.Join(os.Mkdir(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "keep"), []byte("this"), 0o600)); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		digest := fuzzDigest(t, content, root)
		err = Unpack(t.Context(), stream(content), digest, root, []string{"s"}, nil, limits)
		entries, _ := os.ReadDir(above)
		got := contents(t, root)
		if len(entries) != 1 || got["keep"] != "this" {
			t.Errorf("changed what is not the session's: %v, %q", entries, got)
		}
		for name := range got {
			if name != "keep" && name != "s" && !strings.HasPrefix(name, "s/") ||
				err != nil && name != "keep" {
				t.Errorf("%v, and left %q", err, name)
			}
		}
	})
}

// fuzzDigest is the digest that a bundle has, so that Unpack reaches its last steps.
func fuzzDigest(t *testing.T, content []byte, root *os.Root) string {
	u := &unpacker{root: root, chosen: selection{own: []string{"s"}}, limits: limits,
		names: map[string]string{}}
	defer u.clean()
	digest, err := u.read(bytes.NewReader(content))
	if err != nil {
		return ""
	}
	return digest
}
