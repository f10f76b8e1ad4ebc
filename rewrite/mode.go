package rewrite

import (
	"slices"

	"reprise/rewrite/reason"
)

// NoAttempt is the number of an attempt that is not known.
const NoAttempt = -1

// A Mode is how a call is handled.
type Mode string

// The modes.
const (
	Passthrough Mode = "passthrough" // the real binary replaces the shim
	Observe     Mode = "observe"     // unchanged, but read for the session ID and usage
	Fresh       Mode = "fresh"       // managed, in a new session
	Resume      Mode = "resume"      // managed, in a session of the chain or in a copy of it
	// managed, in a copy of a session as our last run left it, since another process used the
	// session after that
	Fork Mode = "fork"
)

// Continues reports whether the call continues the earlier prompts of a session.
func (m Mode) Continues() bool { return m == Resume || m == Fork }

// Missed reports whether a call that is passed through for a reason is headless, so that the caller
// can expect it to be managed. Calls from within a tool's own run are not.
func Missed(t Tool, in Input, r reason.Code) bool {
	d := t.Descriptor()
	switch r {
	case reason.AppServer:
		return !in.StdinTTY && !d.IsNested(in.Env)
	case reason.CallerSession, reason.OptedOut, reason.UnknownOption, reason.UnmanagedOption,
		reason.BadUsage, reason.SlashCommand, reason.MessageContent, reason.StdinOpen,
		reason.StdinTooBig, reason.StdoutGone, reason.OpenPipe,
		reason.Wrapper, reason.VerboseSetting, reason.HookSetting, reason.Unreadable,
		reason.NoResume, reason.AddedRefused, reason.ConfigMistake, reason.Fault:
	default:
		return false
	}
	named := func(arg string) bool { return slices.Contains(d.Managed, arg) }
	return !d.IsNested(in.Env) && (len(d.Managed) == 0 || slices.ContainsFunc(in.Args, named))
}
