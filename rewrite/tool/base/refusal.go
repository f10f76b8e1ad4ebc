package base

import (
	"strings"

	"reprise/rewrite/reason"
)

// Refusals are the texts in a tool's messages when it does not continue a session, and the reasons.
type Refusals []struct {
	Text   string
	Reason reason.Code
}

// In returns why a message refuses a session, "" if it does not. Limits, logins, network errors and
// anything unknown do not concern the session.
func (r Refusals) In(message string) reason.Code { return r.Find(message, strings.Contains) }

// After does the same for the stderr of a run, which has refused nothing if it ended well.
func (r Refusals) After(stderr string, exit int) reason.Code {
	if exit == 0 {
		return ""
	}
	return r.In(stderr)
}

// Find is In with another way to look for a text.
func (r Refusals) Find(message string, matches func(message, text string) bool) reason.Code {
	for _, known := range r {
		if matches(message, known.Text) {
			return known.Reason
		}
	}
	return ""
}
