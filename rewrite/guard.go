package rewrite

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Variables says which environment variables must be equal between a session and a call
// that resumes it. A name that ends in * stands for all that begin so.
type Variables struct {
	Settings []string // shape a run
	Account  []string // say whose account it is, or by which way the API is reached
	// Neutral are exceptions from both: they change from call to call, say only who
	// calls, or are looked at elsewhere.
	Neutral []string
}

// cloudVariables say on whose account a tool of any kind works, and by which way it reaches the API. What
// is derived from another of them and expires soon is left out.
var cloudVariables = Variables{
	Account: []string{
		"AWS_*", "GOOGLE_*", "CLOUDSDK_*", "GCLOUD_PROJECT", "GCP_PROJECT", "CLOUD_ML_REGION", "VERTEX_*", "AZURE_*",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR",
	},
	Neutral: []string{
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN", "AWS_CREDENTIAL_EXPIRATION", "AWS_PAGER",
		"AWS_EXECUTION_ENV", "AWS_LAMBDA_*", "AWS_XRAY_*",
	},
}

// jobVariables name the run or the job of a CI system.
var jobVariables = []string{
	"GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "GITHUB_REPOSITORY", "CI_JOB_ID", "CI_PIPELINE_ID", "CI_PROJECT_ID",
	"BUILD_ID", "BUILD_NUMBER", "BUILD_TAG", "JOB_NAME", "BUILDKITE_JOB_ID", "BUILDKITE_BUILD_ID", "CIRCLE_WORKFLOW_ID",
	"CIRCLE_WORKFLOW_JOB_ID", "CIRCLE_BUILD_NUM", "TRAVIS_JOB_ID", "TRAVIS_BUILD_ID", "BUILD_BUILDID", "SYSTEM_JOBID",
	"BITBUCKET_BUILD_NUMBER", "BITBUCKET_STEP_UUID", "DRONE_BUILD_NUMBER", "DRONE_STEP_NUMBER", "SEMAPHORE_JOB_ID",
	"TEAMCITY_BUILD_ID", "APPVEYOR_JOB_ID", "CODEBUILD_BUILD_ID", "WERCKER_RUN_ID", "CM_BUILD_ID", "HEROKU_TEST_RUN_ID",
	"TASKCLUSTER_TASK_ID", "CF_BUILD_ID", "VERCEL_DEPLOYMENT_ID", "NETLIFY_BUILD_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
}

// Words that say for whom or for which job a call is made: the first wherever they end
// a name or stand before ID, NAME, KEY or SLUG there, the others only before ID.
var (
	tenantWords = []string{"TENANT", "CUSTOMER", "ORG", "ORGANIZATION", "ORGANISATION", "ACCOUNT", "WORKSPACE"}
	jobWords    = []string{"PROJECT", "CLIENT", "USER", "TEAM", "JOB", "RUN", "TASK", "BUILD", "PIPELINE", "WORKFLOW", "TICKET", "ISSUE",
		"CASE", "ORDER", "CONVERSATION", "CHAT", "THREAD", "AGENT"}
	idWords = []string{"ID", "UUID", "GUID", "NAME", "KEY", "SLUG"}
)

// namesJob reports whether a variable says for whom, or in which job, a call is made.
func namesJob(name string) bool {
	if slices.Contains(jobVariables, name) {
		return true
	}
	words := strings.Split(strings.ToUpper(name), "_")
	last := words[len(words)-1]
	if len(words) > 1 && slices.Contains(idWords, last) {
		word := words[len(words)-2]
		return slices.Contains(tenantWords, word) || last != "NAME" && last != "KEY" && slices.Contains(jobWords, word)
	}
	return slices.Contains(tenantWords, last)
}

// Environment returns which of a call's environment variables must be equal between a
// session and a call that resumes it. Those that name a job count only for calls whose
// task has no name.
func Environment(tool Tool, environ []string, named bool) []Setting {
	own := tool.Variables()
	var found []Setting
	seen := map[string]bool{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if seen[name] {
			continue // of two entries the first counts
		}
		seen[name] = true
		if value == "" {
			continue
		}
		if guard := guardOf(name, own, named); guard != "" {
			found = append(found, Setting{Name: name, Value: value, Guard: guard})
		}
	}
	return found
}

func guardOf(name string, own Variables, named bool) Reason {
	switch {
	case strings.HasPrefix(name, "REPRISE_"):
		return ""
	case matchesAny(own.Neutral, name), matchesAny(cloudVariables.Neutral, name):
		return ""
	case matchesAny(own.Account, name), matchesAny(cloudVariables.Account, name), strings.HasSuffix(name, "_API_KEY"):
		return AuthChanged
	case matchesAny(own.Settings, name):
		return SettingsChanged
	case !named && namesJob(name):
		return JobChanged
	}
	return ""
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, wild := strings.CutSuffix(p, "*")
		return p == name || wild && strings.HasPrefix(name, prefix)
	})
}

// maxImports bounds how many files an instruction file is followed to.
const maxImports = 32

// Imports returns the files that a file of instructions takes in by @path, as claude and
// gemini do. One too many does no harm.
func Imports(text string) []string {
	var paths []string
	for word := range strings.FieldsSeq(text) {
		path, found := strings.CutPrefix(word, "@")
		if path = strings.TrimRight(path, ".,;:!?)"); !found || path == "" {
			continue
		}
		if paths = append(paths, path); len(paths) == maxImports {
			break
		}
	}
	return paths
}

// jsonMember returns the value of a key of a JSON object as it stands in the text, "" if
// there is none. It skips what it does not need: a tool's own state may be large.
func jsonMember(text, key string) string {
	rest := strings.TrimLeft(text, jsonSpace)
	if !strings.HasPrefix(rest, "{") {
		return ""
	}
	value := ""
	for rest = rest[1:]; ; {
		rest = strings.TrimLeft(rest, jsonSpace+",")
		if !strings.HasPrefix(rest, `"`) {
			return value
		}
		n := jsonEnd(rest)
		name := rest[:n]
		rest = strings.TrimLeft(rest[n:], jsonSpace)
		if !strings.HasPrefix(rest, ":") {
			return value
		}
		rest = strings.TrimLeft(rest[1:], jsonSpace)
		if n = jsonEnd(rest); n == 0 {
			return value
		}
		if jsonString(name) == key {
			value = rest[:n] // of a key that stands twice the last counts
		}
		rest = rest[n:]
	}
}

const jsonSpace = " \t\r\n"

// jsonEnd returns where the value that a text begins with ends.
func jsonEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i+1)
			if depth == 0 {
				return min(i+1, len(text))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// stringEnd returns where the quote is that ends the string which begins at a place.
func stringEnd(text string, from int) int {
	for at := from; ; at++ {
		n := strings.IndexByte(text[at:], '"')
		if n < 0 {
			return len(text)
		}
		at += n
		escapes := len(text[from:at]) - len(strings.TrimRight(text[from:at], `\`))
		if escapes%2 == 0 {
			return at
		}
	}
}

// jsonString decodes a JSON string, "" if it is none.
func jsonString(text string) string {
	if len(text) >= 2 && text[0] == '"' && !strings.Contains(text, `\`) {
		return text[1 : len(text)-1]
	}
	var s string
	if json.Unmarshal([]byte(text), &s) != nil {
		return ""
	}
	return s
}

// jsonCompact returns a value of JSON without the space in it, "" where it is empty: a
// tool that writes its own file anew may lay it out in another way and add empty parts.
func jsonCompact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	switch s := b.String(); s {
	case "{}", "[]", "null", `""`, "false":
		return ""
	default:
		return s
	}
}
