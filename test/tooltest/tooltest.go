// Package tooltest is code that the tests of several tools share.
package tooltest

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// SomeID is the ID of the session that tests are about.
const SomeID = "11111111-2222-4333-8444-555555555555"

// Feed feeds a run to a stream, stderr first, and returns the output for the caller.
func Feed(s rewrite.Stream, stdout, stderr []byte) (out, errOut string) {
	for l := range bytes.Lines(stderr) {
		errOut += string(s.ErrLine(l))
	}
	for l := range bytes.Lines(stdout) {
		out += string(s.Line(l))
	}
	out += string(s.End())
	return out, errOut + s.TakeStderr()
}

// Events of claude.
const (
	ClaudeInit = `{"type":"system","subtype":"init","session_id":"` + SomeID +
		`","model":"m","claude_code_version":"2.1.329"}` + "\n"
	ClaudeSays = `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"yes"}]},"session_id":"` + SomeID + `"}` + "\n"
	ClaudeEnds = `{"type":"result","subtype":"success","is_error":false,"result":"yes","session_id":"` + SomeID + `"}` + "\n"
)

// StripNumbers puts 0 for every number that stands outside arrays.
func StripNumbers(line []byte) []byte {
	var out []byte
	at := 0
	for _, n := range jsonline.Numbers(line) {
		out = append(append(out, line[at:n.Start]...), '0')
		at = n.End
	}
	return append(out, line[at:]...)
}

// Settings are a call's, by name: codex takes an option with two values for the same as
// two options.
func Settings(c rewrite.CommandLine) map[string]string {
	values := map[string]string{}
	for _, s := range c.Settings {
		values[s.Name] += "\x00" + s.Value
	}
	return values
}

// ForeignID is an id of good form, of a session that is not ours.
const ForeignID = "99999999-8888-4777-8666-555555555555"

// SomeSession is such an ID in opencode's form.
const SomeSession = "ses_dfc14b2ceffekXc3G9bVDVUSG5"

// Invocation is a call's command line of words, in which _ is a space and "" nothing, with an
// environment.
func Invocation(line string, env ...string) rewrite.Input {
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.ReplaceAll(strings.ReplaceAll(args[i], `""`, ""), "_", " ")
	}
	return rewrite.Input{Args: args, Env: func(name string) string {
		for _, e := range env {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				return value
			}
		}
		return ""
	}}
}

// A Reading is a tool's reading of a command line.
type Reading = struct {
	Line, Env string
	Mode      rewrite.Mode
	Reason    reason.Code
	Prompt    string
	Format    rewrite.Format
}

// CheckReadings compares parse's readings of command lines.
func CheckReadings(t *testing.T, parse func(line string, env ...string) rewrite.CommandLine,
	readings []Reading) {
	t.Helper()
	for _, r := range readings {
		c := parse(r.Line, r.Env)
		if (c.Reason == reason.UnmanagedOption) != (c.Unmanaged != "") {
			t.Errorf("%q: %s, because of %q", r.Line, c.Reason, c.Unmanaged)
		}
		if got := (Reading{r.Line, r.Env, c.Mode, c.Reason, c.Prompt, c.Format}); got != r {
			t.Errorf("got %+v, want %+v", got, r)
		}
	}
}

// A To is a Target with any values: a table is easier to read with short prompts, and those have no
// delta.
type To struct {
	ID, Prompt, Asked, NewID, ForkAt string
	Copied, Whole                    bool
}

// Target returns the Target. Its plan is set by reflection, since nothing but rewrite makes one.
func (to To) Target() rewrite.Target {
	t := rewrite.Target{ForkAt: to.ForkAt, NewID: to.NewID}
	plan := reflect.ValueOf(&t).Elem().FieldByName("plan")
	*(*rewrite.Plan)(plan.Addr().UnsafePointer()) = rewrite.Plan{Resume: to.ID, Copy: to.Copied,
		Prompt: to.Prompt, Asked: to.Asked, Whole: to.Whole}
	return t
}

// Beginning returns a target with an ID for the session that the call begins.
func Beginning(t rewrite.Target, id string) rewrite.Target {
	t.NewID = id
	return t
}

// Key is the key of all digests.
var Key = prompt.Key("a key for tests")

// NamedSent returns the stored digests of a session that a caller with a named task sent a prompt.
func NamedSent(text string) prompt.Sent {
	return prompt.Sent{Base: prompt.New(text, Key).Footprint(), Named: true}
}
