package base

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/rewrite/reason"
)

// Causes are texts in a tool's messages, and why the tool then did not continue a session, or why a
// request failed. A failure counts only if the cause says nothing against the session. Any other
// can lie in the session, such as 403, which some proxies answer to a text that they do not like.
type Causes []struct {
	Text string
	Why  reason.Code
}

// WithStatus returns the beginnings of the failures of a tool that writes the status of HTTP in a
// format, and more.
func WithStatus(format string, more ...Causes) Causes {
	all := slices.Concat(more...)
	for _, status := range []int{401, 429, 500, 502, 503, 504, 529} {
		all = append(all, Causes{{fmt.Sprintf(format, status), FailureByStatus(status)}}...)
	}
	return all
}

// FailureByStatus returns why a request with an HTTP status failed, "" if that can lie in the
// session.
func FailureByStatus(status int) reason.Code {
	return cmp.Or(
		When(status == 401, reason.LoginRefused),
		When(status == 429, reason.RateLimited),
		When(status >= 500 && status <= 599, reason.ServiceFailed))
}

// In returns the cause that a message contains, "" if there is none.
func (all Causes) In(message string) reason.Code { return all.find(message, strings.Contains) }

// Begins returns the cause that a message begins with, "" if there is none.
func (all Causes) Begins(message string) reason.Code { return all.find(message, strings.HasPrefix) }

func (all Causes) find(message string, has func(message, text string) bool) reason.Code {
	for _, known := range all {
		if has(message, known.Text) {
			return known.Why
		}
	}
	return ""
}
