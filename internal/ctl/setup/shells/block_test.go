package shells

import (
	"errors"
	"strings"
	"testing"
)

func posix(names ...string) []string {
	return PathBlock{File: "f", Shims: "/home/u/.local/share/reprise/bin", Home: "/home/u", Names: names}.Lines()
}

// Whatever a file holds, setup and undo leave its own lines as they were, and setup again changes nothing.
func TestBlockComesAndGoes(t *testing.T) {
	for _, text := range []string{"", "\n", "a", "a\n", "a\n\n", "a\r\nb\r\n", "a\r\nb", "# >>> conda\n", "\xff\xfe\n", "  " + begin + "\n"} {
		put, err := WithBlock("f", text, true, posix())
		if err != nil || !strings.HasPrefix(put.New, text) || put.Old != text || !put.Changes() {
			t.Fatalf("%q: %+v, %v", text, put, err)
		}
		if ended := strings.HasSuffix(put.New, "\n"); ended != (text == "" || strings.HasSuffix(text, "\n")) {
			t.Errorf("%q: the end of the file is another: %q", text, put.New)
		}
		if again, err := WithBlock("f", put.New, true, posix()); err != nil || again.Changes() {
			t.Errorf("%q: again: %+v, %v", text, again, err)
		}
		if gone, err := WithoutBlock("f", put.New); err != nil || gone.New != text || gone.Remove {
			t.Errorf("%q: after undo %q, %v", text, gone.New, err)
		}
		edited := put.New + "\nmore\n"
		if gone, err := WithoutBlock("f", edited); err != nil || strings.Contains(gone.New, "reprise/bin") || !strings.HasSuffix(gone.New, "more\n") {
			t.Errorf("%q: edited, after undo %q, %v", text, gone.New, err)
		}
	}
}

func TestFileOfOurOwnIsRemoved(t *testing.T) {
	put, err := WithBlock("f", "", false, posix())
	if err != nil || put.Existed {
		t.Fatal(put, err)
	}
	if gone, err := WithoutBlock("f", put.New); err != nil || !gone.Remove {
		t.Errorf("%+v, %v", gone, err)
	}
	if gone, err := WithoutBlock("f", strings.ReplaceAll(put.New, "\n", "\r\n")); err != nil || !gone.Remove {
		t.Errorf("with other line ends: %+v, %v", gone, err)
	}
	if gone, err := WithoutBlock("f", put.New+"mine\n"); err != nil || gone.Remove || gone.New != "mine\n" {
		t.Errorf("%+v, %v", gone, err)
	}
	again, err := WithBlock("f", put.New, true, posix("claude"))
	if err != nil || !strings.Contains(again.New, created) || again.Remove {
		t.Errorf("it is ours no more: %q, %v", again.New, err)
	}
}

func TestBlockMovesToTheEnd(t *testing.T) {
	put, _ := WithBlock("f", "a\n", true, posix("claude"))
	e, err := WithBlock("f", put.New+"later\n", true, posix(Unhidden(put.New)...))
	if err != nil || e.New != "a\nlater\n"+strings.TrimPrefix(put.New, "a\n") {
		t.Errorf("%q, %v", e.New, err)
	}
	want := "--- f\n+++ f\n@@ -2,10 +1,0 @@\n"
	if diff := Diff(e, "f"); !strings.HasPrefix(diff, want) || !strings.Contains(diff, "@@ -12,0 +3,10 @@\n+# >>>") {
		t.Errorf("%s", diff)
	}
}

func TestDamagedBlock(t *testing.T) {
	put, _ := WithBlock("f", "a\n", true, posix())
	for _, text := range []string{
		strings.Replace(put.New, end, "", 1), strings.Replace(put.New, begin, "", 1), end + "\n" + about + "\n", about + "\n" + about + "\n" + end + "\n" + end + "\n",
	} {
		if e, err := WithoutBlock("f", text); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %q, %v", text, e.New, err)
		}
		if _, err := WithBlock("f", text, true, posix()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDiff(t *testing.T) {
	put, _ := WithBlock("f", "KEY=secret", true, []string{"x"})
	want := "--- ~/f\n+++ ~/f\n@@ -1,0 +2,3 @@\n+" + about + "\n+x\n+" + end + "\n\\ No newline at end of file\n"
	if got := Diff(put, "~/f"); got != want {
		t.Errorf("%s", got)
	}
	gone, _ := WithoutBlock("f", put.New)
	want = "--- f\n+++ f\n@@ -2,3 +1,0 @@\n-" + about + "\n-x\n-" + end + "\n\\ No newline at end of file\n"
	if got := Diff(gone, "f"); got != want {
		t.Errorf("%s", got)
	}
	put, _ = WithBlock("f", "", false, []string{"x"})
	if got := Diff(put, "f"); !strings.HasPrefix(got, "--- /dev/null\n+++ f\n@@ -0,0 +1,3 @@\n") {
		t.Errorf("%s", got)
	}
	changed, _ := WithBlock("f", put.New, true, []string{"y", "z"})
	if got := Diff(changed, "f"); !strings.HasPrefix(got, "--- f\n+++ f\n@@ -1,3 +1,4 @@\n-") {
		t.Errorf("%s", got)
	}
}

// In a configuration, lines of ours go, wherever they stand; the file too if we made it and nothing else is in it.
func TestMarkedLines(t *testing.T) {
	ours, first := "path = \"/a\" "+Mark(true), "tool.codex.path = \"/b\" "+Mark(false)
	for _, c := range []struct{ text, left string }{
		{"[tool.claude]\n" + ours + "\nenabled = true\n", "[tool.claude]\nenabled = true\n"},
		{first + "\nttl = \"2h\"\n" + ours + "\n", "ttl = \"2h\"\n"},
		{"ttl = \"2h\"\n" + ours, "ttl = \"2h\""},
		{ours + "\n", ""},
		{first + "\n" + ours + "\n", ""},
	} {
		e, err := WithoutBlock("c", c.text)
		if made := strings.HasPrefix(c.text, first); e.New != c.left || e.Remove != (made && c.left == "") || err != nil {
			t.Errorf("%q: %+v, %v", c.text, e, err)
		}
		if diff := Diff(e, "c"); !strings.Contains(diff, "\n-"+ours+"\n") || strings.Contains(diff, "ttl") {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestInHome(t *testing.T) {
	for _, c := range [][3]string{
		{"/home/u/bin", "/home/u", "$HOME/bin"}, {"/home/user", "/home/u", "/home/user"}, {"/bin", "/", "/bin"},
		{`/home/u/a"$b`, "/home/u", `$HOME/a\"\$b`}, {"/opt/`x", "", "/opt/\\`x"},
	} {
		if got := inHome(c[0], c[1]); got != c[2] {
			t.Errorf("%s in %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
