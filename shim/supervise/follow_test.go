package supervise

import (
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/test/toolbox"
)

// A follower is a shell script as a tool, with a plan that follows files.
type follower struct {
	rewrite.Tool
	stream *followerStream
}

func (follower) Refused(string, int) reason.Code { return "" }

func (f follower) Stream(rewrite.CommandLine, rewrite.Plan, rewrite.Totals) rewrite.Stream {
	return f.stream
}

// A followerStream keeps the files it is shown, and shows them at the end.
type followerStream struct {
	files []string
	seen  rewrite.StreamState
}

func (s *followerStream) Line(line []byte) []byte    { return line }
func (s *followerStream) ErrLine(line []byte) []byte { return line }
func (s *followerStream) ErrAsIs([]byte) bool        { return true }
func (s *followerStream) MaxLine() int               { return 0 }
func (s *followerStream) HoldsOutput() bool          { return false }
func (s *followerStream) PrintsAtEnd() bool          { return false }
func (s *followerStream) Seen() *rewrite.StreamState { return &s.seen }
func (s *followerStream) TakeStderr() string         { return "" }
func (s *followerStream) End() []byte                { return []byte(strings.Join(s.files, "")) }
func (s *followerStream) File(path string, data []byte) {
	s.files = append(s.files, filepath.Base(path)+": "+string(data))
	if string(data) == "go on\n" {
		s.seen.Content, s.seen.ID = true, "x"
	}
}

// childrensInbox is told of children alone: nothing else is to be caught in this process.
func childrensInbox(t *testing.T) *Inbox {
	in, ended := NewInbox(), make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	t.Cleanup(func() { signal.Stop(ended) })
	go func() {
		for range ended {
			notify(in.children)
		}
	}()
	return in
}

// try runs a shell script as a follower's tool, and returns the output that the caller sees.
func try(t *testing.T, script string, plan rewrite.Plan) (stdout string, a *Attempt) {
	t.Helper()
	out := outputFile(t)
	path := toolbox.Program(t, t.TempDir(), "tool", "#!/bin/sh\n"+script)
	tool := follower{stream: &followerStream{}}
	a, st := play(t, tool, childrensInbox(t), plan, path, append(os.Environ(), "OUT="+out.Name()),
		[3]*os.File{devNull(t), out, out}, 10*time.Second)
	if st.Exit != 0 || st.Signal != 0 {
		t.Errorf("ended with %+v", st)
	}
	return contents(t, out), a
}

// The ID of a resume is known before the tool says it, the ID of a new session, or of a copy, is
// not.
func TestWhatIsPinnedAtTheStart(t *testing.T) {
	path := toolbox.Program(t, t.TempDir(), "tool", "#!/bin/sh\n")
	for _, test := range []struct {
		plan rewrite.Plan
		want string
	}{{rewrite.Plan{Resume: "one"}, "id one"},
		{rewrite.Plan{Resume: "one", Copy: true}, ""}, {rewrite.Plan{}, ""}} {
		got := ""
		out := outputFile(t)
		a := New(Options{
			Plan:    test.plan,
			Tool:    follower{},
			Stream:  &followerStream{},
			Signals: childrensInbox(t),
			Pinned:  func(id string, pid int) { got += "id " + id },
			Fault:   func(string, error) {},
		})
		if _, err := a.Run(path, []string{"tool"}, os.Environ(),
			[3]*os.File{devNull(t), out, out}, time.Minute); err != nil {
			t.Fatal(err)
		}
		if got != test.want {
			t.Errorf("%+v: %q is pinned, want %q", test.plan, got, test.want)
		}
	}
}

func TestFollowedFilesReachTheStream(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/old.jsonl", []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, _ := try(t, `echo new >>$1/old.jsonl; mkdir $1/d; printf last >$1/d/new.json; echo out`,
		rewrite.Plan{
			Args: []string{dir},
			Follow: []rewrite.Follow{
				{Dir: dir, Name: "*.jsonl", Lines: true}, {Dir: dir, Name: "*.json"}},
		})
	if !strings.HasPrefix(got, "out\n") || !strings.Contains(got, "old.jsonl: new\n") ||
		!strings.Contains(got, "new.json: last") || strings.Contains(got, "old.jsonl: old") {
		t.Errorf("shown %q", got)
	}
}

// A followed file can tell that a resume has taken: the held output is shown while the tool still
// runs.
func TestAFileOpensTheGate(t *testing.T) {
	dir := t.TempDir()
	got, a := try(t, `echo out; echo "go on" >$1/a.jsonl; i=0
		until [ -s $OUT ] || [ $i -gt 200 ]; do sleep 0.02; i=$((i+1)); done; echo $i`, rewrite.Plan{
		Args: []string{dir}, Resume: "x",
		Follow: []rewrite.Follow{{Dir: dir, Name: "*.jsonl", Lines: true}},
	})
	if a.state != stateDelivered || !strings.HasPrefix(got, "out\n") ||
		strings.Contains(got, "201") {
		t.Errorf("state %d, shown %q", a.state, got)
	}
}

func TestScratch(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	got,
		a := try(t,
		`echo "$2"; stat -c %a "$1"; printf made >"$1/x.json"; echo "${3#--dir=}" >"$1/y.json"`,
		rewrite.Plan{
			Args: []string{rewrite.Scratch, "say " + rewrite.Scratch, "--dir=" + rewrite.Scratch +
				"/sub"},
			Follow: []rewrite.Follow{{Dir: rewrite.Scratch, Name: "*.json"}},
		})
	dir := a.Plan.Args[0]
	for _, want := range []string{"say " + rewrite.Scratch + "\n700\n", "x.json: made", "y.json: " +
		dir + "/sub\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("shown %q, want %q", got, want)
		}
	}
	if filepath.Dir(dir) != tmp {
		t.Errorf("scratch directory %s is not below TMPDIR", dir)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestScratchOnlyWhereAsked(t *testing.T) {
	t.Setenv("TMPDIR", "/nowhere")
	for _, arg := range []string{"x", "about " + rewrite.Scratch, rewrite.Scratch + " is what?"} {
		plan := rewrite.Plan{Args: []string{arg}, Prompt: arg}
		got, remove, err := WithScratch(plan)
		if err != nil || got.Args[0] != arg || remove() != nil {
			t.Errorf("%q became %q, %v", arg, got.Args, err)
		}
	}
	if _, _, err := WithScratch(rewrite.Plan{Args: []string{rewrite.Scratch}}); err == nil {
		t.Error("no error where the directory cannot be made")
	}
}

func TestToolRunsWithoutItsFilesFollowed(t *testing.T) {
	var faults []string
	a := New(Options{
		Plan:    rewrite.Plan{Follow: []rewrite.Follow{{Dir: t.TempDir(), Name: "["}}},
		Stream:  &followerStream{},
		Tool:    follower{},
		Signals: childrensInbox(t),
		Fault:   func(what string, _ error) { faults = append(faults, what) },
	})
	out := outputFile(t)
	st, err := a.Run("/bin/sh", []string{"sh", "-c", "echo out"}, os.Environ(),
		[3]*os.File{devNull(t), out, out}, time.Second)
	if err != nil || st.Exit != 0 || contents(t, out) != "out\n" ||
		!slices.Equal(faults, []string{"follow files"}) {
		t.Errorf("%+v %v, faults %q, shown %q", st, err, faults, contents(t, out))
	}
}

func outputFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// contents leaves the offset alone: a process that still writes shares it.
func contents(t *testing.T, f *os.File) string {
	t.Helper()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func devNull(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
