package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"reprise/docs"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
)

var versionNumber = regexp.MustCompile(`\d+(\.\d+)+`)

// checkVersion compares a tool's version with those that were tested. It returns no check if the tool prints no version or
// none of it was tested.
func checkVersion(name, said string) []setup.Check {
	version := versionNumber.FindString(said)
	var rows []docs.Tried
	for _, row := range docs.Conformance() {
		if row.Tool == name {
			rows = append(rows, row)
		}
	}
	if version == "" || len(rows) == 0 {
		return nil
	}
	c := setup.Check{Name: name + " version", Result: "ok"}
	oldest, newest := rows[0].Version, rows[len(rows)-1].Version
	for _, row := range rows {
		if row.Version != version {
			continue
		}
		c.Finds = version + " was tried with the shim"
		if !row.Clean() {
			c.Result = "note"
			c.Finds += fmt.Sprintf(": passed through %s; fresh %s; resume %s", row.PassedThrough, row.Fresh, row.Resumes)
			c.Fix = fmt.Sprintf("docs/internals/conformance.md says what differs; with %s nothing does", newest)
		}
		return []setup.Check{c}
	}
	switch {
	case Older(version, oldest), Older(newest, version):
		c.Result = "note"
		c.Finds = fmt.Sprintf("%s was not tried, only %s to %s: its output may differ from what the shim renders", version, oldest, newest)
		c.Fix = fmt.Sprintf("install %s, or leave the tool alone with enabled = false under [tool.%s]", newest, name)
	default:
		c.Finds = fmt.Sprintf("%s lies between versions that were tried, %s to %s", version, oldest, newest)
	}
	return []setup.Check{c}
}

// Older compares versions number by number.
func Older(a, b string) bool {
	left, right := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(left), len(right)) {
		l, _ := strconv.Atoi(left[i])
		r, _ := strconv.Atoi(right[i])
		if l != r {
			return l < r
		}
	}
	return len(left) < len(right)
}

// checkRetention: gemini deletes a session that was resumed in a later minute, unless its retention is off
// (docs/internals/gemini.md; seen with 0.61.0). Settings of the project and the system are not read.
func checkRetention(a *app.App) setup.Check {
	path := filepath.Join(cmp.Or(a.Getenv("GEMINI_CLI_HOME"), a.Getenv("HOME")), ".gemini", "settings.json")
	var settings struct {
		General struct {
			SessionRetention struct{ Enabled *bool }
		}
	}
	if text, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(text, &settings) // gemini's default applies to a file that cannot be read
	}
	if on := settings.General.SessionRetention.Enabled; on != nil && !*on {
		return setup.OK("gemini sessions", "gemini keeps its sessions (sessionRetention is off)")
	}
	return setup.Note("gemini sessions",
		"gemini deletes a resumed session when another one starts in the hundredths of a second before the shim prevents it; the next call is then fresh",
		fmt.Sprintf(`to rule that out, write {"general": {"sessionRetention": {"enabled": false}}} into %s: no session is deleted then, however old`, a.Tilde(path)))
}
