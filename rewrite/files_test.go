package rewrite

import (
	"encoding/json"
	"slices"
	"testing"
)

// A tool's argument names files, and can be a command.
func TestAddTool(t *testing.T) {
	for input, want := range map[string]struct {
		files []string
		shell bool
	}{
		`{"file_path":"a.go"}`:              {[]string{"a.go"}, false},
		`{"command":"sed -i s/a/b/ a.go"}`:  {nil, true},
		`{"command":["sh","-c","true"]}`:    {nil, true},
		`{"command":"view","path":"/b.go"}`: {[]string{"/b.go"}, true},
		`{"pattern":"x"}`:                   {nil, false},
		`"command"`:                         {nil, false},
		`{"command":`:                       {nil, false},
	} {
		var s StreamState
		s.AddTool(json.RawMessage(input))
		if !slices.Equal(s.Files, want.files) || s.Shell != want.shell {
			t.Errorf("%s: files %q, a command: %v", input, s.Files, s.Shell)
		}
		first := s.EndTurn()
		if first.Continue(StreamState{}); first.Shell != want.shell || s.Shell != want.shell {
			t.Errorf("%s: a command is forgotten", input)
		}
	}
}

// claude's names of directories: each UTF-16 unit that is no letter or digit of ASCII is a dash.
func TestDashed(t *testing.T) {
	for path, want := range map[string]string{
		"/work/My_app.d": "-work-My-app-d", "/x/\U0001F680app": "-x---app", "/\u00fc": "--",
		"/e\u0301": "-e-", "/\u65e5\u672c": "---",
	} {
		if got := Dashed(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
