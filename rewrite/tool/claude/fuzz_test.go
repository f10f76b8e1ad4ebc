package claude

import (
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/tool/grammar"
	"reprise/test/tooltest"
)

func FuzzParseCommander(f *testing.F) {
	for _, s := range []string{"-p\nhi", "-p\n--model\nx\n--allowed-tools\na\nb\n--\n-c",
		"--model=x\n-r\n-d\nx", "--add-dir=a\nb", "--resume", "--model"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\n")
		p := grammar.Commander(args, options)
		if p.Unknown != "" || p.Bad {
			return // read up to there only, and never managed
		}
		seen := make([]int, len(args))
		at := -1
		for _, o := range p.Options {
			if o.Span.N < 1 || o.Span.At <= at {
				t.Fatalf("%q: option %v at %v", args, o.Names, o.Span)
			}
			at = o.Span.At
			name, _, _ := strings.Cut(args[at], "=")
			if !slices.Contains(o.Names, name) && !slices.Contains(o.Names, args[at][:2]) {
				t.Fatalf("%q is read as %v", args[at], o.Names)
			}
			for i := range o.Span.N {
				seen[at+i]++
			}
			if taken := args[at+1 : at+o.Span.N]; len(taken) > 0 && !slices.Equal(o.Values, taken) {
				t.Fatalf("%q: %v takes %q, and stands on %q", args, o.Names, o.Values, taken)
			}
		}
		for _, o := range p.Operands {
			seen[o.At]++
		}
		end := slices.Index(args, "--")
		for i, n := range seen {
			if n == 0 && args[i] == "--" { // the sign that ends the options
				end = i
				break
			}
		}
		for i, n := range seen {
			if want := 1; n != want && !(n == 0 && i == end) {
				t.Fatalf("%q: argument %d counts %d times", args, i, n)
			}
		}
	})
}

// With any output and file of claude, a text or a fresh json caller is shown the output as it is,
// the session has the ID of the command line, and a text run is over only if the answer was shown.
func FuzzClaudeFile(f *testing.F) {
	at := strings.NewReplacer("TIME", "2026-11-23T01:49:40.606Z")
	for _, entry := range []string{says("yes"), said(usesTool, ""),
		said("", `,"isApiErrorMessage":true`), `{"type":"cost-state","totalCostUSD":1}`,
		`{"type":"system","subtype":"compact_boundary","timestamp":"TIME"}`,
		`{"type":"user","timestamp":"TIME"}`, "[" + tooltest.ClaudeEnds + "]"} {
		f.Add([]byte("yes\r\n"), []byte(at.Replace(entry)), []byte(at.Replace(says("yes"))))
		f.Add([]byte(tooltest.ClaudeEnds), []byte(at.Replace(entry)), []byte{})
	}
	f.Fuzz(func(t *testing.T, stdout, one, other []byte) {
		plan := rewrite.Plan{NewID: tooltest.SomeID, Started: 1}
		for _, format := range []rewrite.Format{rewrite.Text, rewrite.JSON, rewrite.JSONVerbose} {
			s := tool.Stream(rewrite.CommandLine{Format: format, Own: details{maxTurns: "1"}}, plan,
				"")
			s.File("x", one)
			shown, _ := tooltest.Feed(s, stdout, nil)
			s.File("x", other)
			shown += string(s.End())
			seen := s.Seen()
			if shown != string(stdout) {
				t.Fatalf("%s: %q is shown as %q", format, stdout, shown)
			}
			if format != rewrite.Text {
				continue
			}
			if seen.ID != "" && seen.ID != tooltest.SomeID || seen.WrongID {
				t.Fatalf("id %q, wrong %v", seen.ID, seen.WrongID)
			}
			lines := strings.NewReplacer("\r\n", "\n")
			if seen.Final && (len(stdout) == 0 ||
				!strings.Contains(lines.Replace(shown),
					lines.Replace(strings.TrimSpace(seen.Answer)))) {
				t.Fatalf("%q is over with the answer %q", stdout, seen.Answer)
			}
		}
	})
}
