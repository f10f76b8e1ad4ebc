package shim

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reprise/config"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
)

// comparedBy is, by format, a digest of the values that sessions are compared by.
var comparedBy = map[int]string{1: "12fe14021c6e7b86"}

// The values that sessions are compared by must not change unnoticed: after an update, open chains
// would end for a reason that is not true.
func TestFormat(t *testing.T) {
	var b strings.Builder
	const text = "# Task\n\nYou are the coder. Mend the parser.\n\n- one\n- two\n\n```go\nfunc " +
		"f() {}\n```\n\nHuman: go on\n\nAssistant: done\n\nHuman: and then?\n"
	key := prompt.Key{1, 2, 3}
	fmt.Fprintf(&b, "%+v\n%+v\n", prompt.New(text, key).Footprint(),
		config.Default().Match(config.Subject{
			Tool: "claude", Prompt: text, Digest: key.Name, Env: func(name string) string {
				return map[string]string{"REPRISE_TASK": "t"}[name]
			}}).Role)
	for _, name := range rewrite.Names {
		tool, _ := rewrite.Lookup(name)
		variables := tool.Descriptor().Variables
		fmt.Fprintf(&b, "%s %q\n", name, variables)
		environ := []string{"CI_JOB_ID=1", "AWS_PROFILE=a", "HTTPS_PROXY=http://a:b@c/",
			"TENANT_ID=1"}
		for _, variable := range slices.Concat(variables.Settings, variables.Account) {
			environ = append(environ, strings.ReplaceAll(variable, "*", "X")+"=1")
		}
		fmt.Fprintf(&b, "%+v\n", rewrite.Environment(tool, environ, false))
		home := func(name string) string { return map[string]string{"HOME": "/home/me"}[name] }
		call := append(slices.Clone(tool.Descriptor().Unattended[1:]), "hi")
		parsed := tool.Parse(rewrite.Input{Args: call, Env: home})
		parsed = tool.ResolveWithEnv(parsed, rewrite.HostEnv{Version: "9.9.9"})
		fmt.Fprintf(&b, "%+v\n%+v\n%s\n", parsed.Settings, parsed.Watched, parsed.Home)
	}
	if got := fmt.Sprintf("%x",
		sha256.Sum256([]byte(b.String())))[:16]; got != comparedBy[ledger.Format] {
		t.Errorf("what sessions are compared by has changed: %s. If a release has the format %d, "+
			"raise ledger.Format; note the digest above", got, ledger.Format)
	}
}
