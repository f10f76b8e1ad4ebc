package rewrite

import (
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"reprise/rewrite/jsonline"
	"reprise/rewrite/reason"
)

// Variables are the environment variables that must be equal between a session and a call that
// resumes it. A name ending in * covers every name with that beginning.
type Variables struct {
	Settings []string // they shape a run
	Account  []string // they select the account, or how the API is reached
	Model    []string // the first that is set names the call's model, and is no setting
	// Neutral are exceptions from both: they change from call to call, only identify the caller, or
	// are handled elsewhere.
	Neutral []string
}

// cloudVariables select the account of any tool and how it reaches the API. Values derived from
// others that expire soon are left out.
var cloudVariables = Variables{
	Account: []string{
		"AWS_*", "GOOGLE_*", "CLOUDSDK_*", "GCLOUD_PROJECT", "GCP_PROJECT", "CLOUD_ML_REGION",
		"VERTEX_*", "AZURE_*", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy",
		"https_proxy", "all_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE",
		"SSL_CERT_DIR",
	},
	Neutral: []string{
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN",
		"AWS_CREDENTIAL_EXPIRATION", "AWS_PAGER",
		"AWS_EXECUTION_ENV", "AWS_LAMBDA_*", "AWS_XRAY_*", "AWS_BATCH_*", "AWS_ROLE_SESSION_NAME",
		// the sessions of one task
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
		"AZURE_HTTP_USER_AGENT", // names the run of an Azure pipeline
		"GOOGLE_GHA_CREDS_PATH", // also in GOOGLE_APPLICATION_CREDENTIALS
	},
}

// jobVariables name the run or the job of a CI system, and have none of the words below.
var jobVariables = []string{
	"GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "GITHUB_REPOSITORY", "BUILD_NUMBER", "BUILD_TAG",
	"JOB_NAME", "CIRCLE_BUILD_NUM", "BUILD_BUILDID", "SYSTEM_JOBID", "BITBUCKET_BUILD_NUMBER",
	"BITBUCKET_STEP_UUID", "DRONE_BUILD_NUMBER", "DRONE_STEP_NUMBER", "VERCEL_DEPLOYMENT_ID",
	"PBS_JOBID", "LSB_JOBID",
}

// Words for the job of a call, or for the tenant that it is made for. The first set counts at the
// end of a name and before ID, NAME, KEY or SLUG there, the second only before ID.
var (
	tenantWords = []string{"TENANT", "CUSTOMER", "ORG", "ORGANIZATION", "ORGANISATION", "ACCOUNT",
		"WORKSPACE"}
	jobWords = []string{"PROJECT", "CLIENT", "USER", "TEAM", "JOB", "RUN", "TASK", "BUILD",
		"PIPELINE", "WORKFLOW", "TICKET", "ISSUE",
		"CASE", "ORDER", "CONVERSATION", "CHAT", "THREAD", "AGENT"}
	idWords = []string{"ID", "UUID", "GUID", "NAME", "KEY", "SLUG"}
)

// namesJob reports whether a variable names the job of a call, or the tenant that it is made for.
func namesJob(name string) bool {
	if slices.Contains(jobVariables, name) {
		return true
	}
	words := strings.Split(strings.ToUpper(name), "_")
	last := words[len(words)-1]
	if len(words) > 1 && slices.Contains(idWords, last) {
		word := words[len(words)-2]
		return slices.Contains(tenantWords, word) ||
			last != "NAME" && last != "KEY" && slices.Contains(jobWords, word)
	}
	return slices.Contains(tenantWords, last)
}

// Environment returns the environment variables of a call that must be equal between a session and
// a call that resumes it. Those that name a job count only for calls without a task name.
func Environment(tool Tool, environ []string, named bool) []Setting {
	own := tool.Descriptor().Variables
	var found []Setting
	seen := map[string]bool{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value != "" && !seen[name] { // of two entries the first counts
			if guard := variableGuard(name, own, named); guard != "" {
				found = append(found, Setting{Name: name, Value: lasting(name, value),
					Guard: guard})
			}
		}
		seen[name] = true
	}
	return found
}

// lasting returns the part of a variable's value that stays the same while the account does, from
// one machine or CI job to the next.
func lasting(name, value string) string {
	switch name {
	case "AWS_ACCESS_KEY_ID":
		return awsAccount(value)
	case "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE":
		dir, file := path.Split(value)
		// google-github-actions/auth 2 adds a random number
		if strings.HasPrefix(file, "gha-creds-") {
			return dir + "gha-creds"
		}
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy":
		from := 0
		if at := strings.Index(value, "://"); at >= 0 {
			from = at + len("://")
		}
		host, _, _ := strings.Cut(value[from:], "/")
		return value[:from] + value[from+strings.LastIndexByte(host, '@')+1:]
	}
	return value
}

// awsAccount returns the account that a temporary access key belongs to: it is made anew every hour
// and for each job. Any other key stands for itself. A key is, after the kind, an account in 40
// bits and a number, in base32.
func awsAccount(key string) string {
	number, temporary := strings.CutPrefix(key, "ASIA")
	bits, err := base32.StdEncoding.DecodeString(number)
	if !temporary || err != nil || len(bits) < 6 {
		return key
	}
	account := binary.BigEndian.Uint64(append([]byte{0, 0}, bits[:6]...)) >> 7 & (1<<40 - 1)
	return fmt.Sprintf("account %012d", account)
}

func variableGuard(name string, own Variables, named bool) reason.Code {
	switch {
	case strings.HasPrefix(name, "REPRISE_"):
		return ""
	case matchesAny(own.Neutral, name), matchesAny(cloudVariables.Neutral, name),
		slices.Contains(own.Model, name):
		return ""
	case matchesAny(own.Account, name), matchesAny(cloudVariables.Account, name),
		strings.HasSuffix(name, "_API_KEY"):
		return reason.AuthChanged
	case matchesAny(own.Settings, name):
		return reason.SettingsChanged
	case !named && namesJob(name):
		return reason.JobChanged
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

// Imports returns the files that an instruction file includes by @path, as claude and gemini do.
// One too many does no harm.
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

// MaxMembers is how many members a JSON object has at most if they are compared one by one.
const MaxMembers = 64

// Other limits of such an object, in bytes.
const (
	maxMembersText = 64 << 10
	longestMember  = 100 // of a name
)

// JSONSettings returns the setting that a text is and, if it is a JSON object, one for each of its
// members: a difference can then be named.
func JSONSettings(name, text string) []Setting {
	settings := []Setting{{Name: name, Value: text}}
	var members map[string]json.RawMessage
	if len(text) > maxMembersText || json.Unmarshal([]byte(text), &members) != nil ||
		len(members) > MaxMembers {
		return settings
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if len(key) > longestMember {
			continue
		}
		settings = append(settings, Setting{Name: name + " " + key,
			Value: jsonline.Compact(string(members[key]))})
	}
	return settings
}
