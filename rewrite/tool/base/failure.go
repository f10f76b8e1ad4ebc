package base

import (
	"cmp"
	"fmt"
	"strings"

	"reprise/rewrite/reason"
)

// Failures are how a tool begins the report of a failed request, where the cause says nothing
// against the session. Any other failure can lie in the session, such as 403, which some proxies
// answer to a text that they do not like.
type Failures []Failure

// A Failure is the beginning of the report of a failed request, and the cause.
type Failure struct {
	Begins string
	Why    reason.Code
}

// WithStatus returns the failures of a tool that writes the status of HTTP after some words.
func WithStatus(words string, more ...Failure) Failures {
	all := Failures(more)
	for _, status := range []int{401, 429, 500, 502, 503, 504, 529} {
		all = append(all, Failure{fmt.Sprintf("%s%d ", words, status), FailureByStatus(status)})
	}
	return all
}

// In returns why a request failed, "" if that can lie in the session.
func (all Failures) In(text string) reason.Code {
	for _, f := range all {
		if strings.HasPrefix(text, f.Begins) {
			return f.Why
		}
	}
	return ""
}

// FailureByStatus returns why a request with an HTTP status failed, "" if that can lie in the
// session.
func FailureByStatus(status int) reason.Code {
	return cmp.Or(
		When(status == 401, reason.LoginRefused),
		When(status == 429, reason.RateLimited),
		When(status >= 500 && status <= 599, reason.ServiceFailed))
}

// Refusals are the texts in a tool's messages when it does not continue a session, and the reasons.
type Refusals []struct {
	Text   string
	Reason reason.Code
}

// In returns why a message refuses a session, "" if it does not. Limits, logins, network errors and
// anything unknown do not concern the session.
func (r Refusals) In(message string) reason.Code { return r.Find(message, strings.Contains) }

// Find is In with another way to look for a text.
func (r Refusals) Find(message string, matches func(message, text string) bool) reason.Code {
	for _, known := range r {
		if matches(message, known.Text) {
			return known.Reason
		}
	}
	return ""
}
