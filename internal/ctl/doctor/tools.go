package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/internal/tested"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/models"
	"reprise/shim/binary"
)

var versionNumber = regexp.MustCompile(`\d+(\.\d+)+`)

// checkVersion compares a tool's version with the tested ones. It returns no check if the
// tool prints no version or none of it was tested.
func checkVersion(a *app.App, name, said, path string) []setup.Check {
	version := versionNumber.FindString(said)
	tool := tested.Own().Tool(name)
	if version == "" || tool.Pin == "" {
		return nil
	}
	check, rows := name+" version", tool.Rows()
	oldest, newest := rows[0].Version, rows[len(rows)-1].Version
	at := slices.IndexFunc(rows, func(r tested.Result) bool { return r.Version == version })
	finds := Untested(name, version, path, a.Now)
	switch {
	case at >= 0 && rows[at] == tested.Result{Version: version}:
		return []setup.Check{setup.OK(check, version+" was tried with the shim")}
	case at >= 0:
		finds = fmt.Sprintf("%s was tried with the shim: passed through %s; fresh %s; resume %s",
			version, cmp.Or(rows[at].PassedThrough, "ok"), cmp.Or(rows[at].Fresh, "ok"),
			cmp.Or(rows[at].Resumes, "yes"))
	case tested.Compare(version, oldest) < 0:
		finds = fmt.Sprintf("%s was not tried, only %s to %s: its output might be rendered "+
			"differently", version, oldest, newest)
	case finds == "":
		return []setup.Check{setup.OK(check, fmt.Sprintf(
			"%s lies between versions that were tried, %s to %s", version, oldest, newest))}
	}
	return []setup.Check{setup.Note(check, finds, fmt.Sprintf("install %s if calls go wrong, or "+
		"leave the tool alone with enabled = false under [tool.%s]", newest, name))}
}

// checkFixedPlaces looks where callers run claude by the path, past the shim on PATH: the places of
// the two installers.
func checkFixedPlaces(a *app.App, m *machine) (checks []setup.Check) {
	for _, below := range []string{".local/bin/claude", ".claude/local/claude"} {
		path := filepath.Join(a.Getenv("HOME"), below)
		if place := filepath.Join(m.shims, "claude"); setup.Runnable(path) &&
			!setup.SameFile(path, place) {
			checks = append(checks, setup.Note("claude by path",
				a.Tilde(path)+": callers that look there first (claude-code-action, "+
					"claude-code-mcp) are not managed",
				"tell such a caller the path "+a.Tilde(place)))
		}
	}
	return checks
}

// checkOrder lists every executable of a tool's name on PATH, in the order of a caller's search.
func checkOrder(a *app.App, p binary.Place) []setup.Check {
	var list, seen []string
	for _, dir := range filepath.SplitList(a.Getenv("PATH")) {
		path := filepath.Join(dir, p.Name)
		if !setup.Runnable(path) || slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		shown := a.Tilde(path)
		switch {
		case len(list) == 0 && p.Ours:
			shown += " (shim)"
		case binary.Manager(path) != "":
			shown += " (" + binary.Manager(path) + "'s shim)"
		case path == p.Real:
			shown += " (real)"
		}
		list = append(list, shown)
	}
	if list == nil {
		return nil
	}
	checks := []setup.Check{setup.OK(p.Name+" on PATH", strings.Join(list, ", then "))}
	if p.Wrapper {
		checks = append(checks, setup.Note(p.Name+" wrapper",
			a.Tilde(p.Real)+" is a script that minds what is added to its arguments: its calls "+
				"are passed through",
			"have it look for options anywhere and exec "+p.Name+", or put it before the shims "+
				"and have it run "+p.Name+" by its name"))
	}
	return checks
}

// bundledCLIs are where SDKs keep CLIs of their own, and how they are told to use another one. The
// patterns are relative to a project, or to a virtual environment of Python.
var bundledCLIs = []struct {
	tool, pattern string
	beside        string // another pattern that must be met, "" for none
	fix           string
	python        bool
}{
	{"claude", "node_modules/@anthropic-ai/claude-agent-sdk-*/claude*", "",
		"pathToClaudeCodeExecutable: %q in the options of query()", false},
	{"claude", "node_modules/@anthropic-ai/claude-agent-sdk/cli.js", "",
		"pathToClaudeCodeExecutable: %q in the options of query()", false},
	{"codex", "node_modules/@openai/codex-sdk/package.json", "",
		"new Codex({ codexPathOverride: %q })", false},
	{"codex", "node_modules/ai-sdk-provider-codex-cli/package.json",
		"node_modules/@openai/codex/package.json", "codexPath: %q in the model's settings", false},
	{"claude", "lib/python3*/site-packages/claude_agent_sdk/_bundled/claude", "",
		"pip install --force-reinstall --no-deps --no-binary claude-agent-sdk claude-agent-sdk, " +
			"which has none, or ClaudeAgentOptions(cli_path=%q)", true},
	{"codex", "lib/python3*/site-packages/openai_codex_sdk/vendor/*/codex/codex", "",
		`Codex({"codex_path_override": %q})`, true},
}

// checkBundled reports the CLIs that SDKs in the working directory bundle: their calls bypass the
// shims.
func checkBundled(a *app.App) (checks []setup.Check) {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	places := []string{dir, filepath.Join(dir, ".venv"), filepath.Join(dir, "venv")}
	if active := os.Getenv("VIRTUAL_ENV"); active != "" && !slices.Contains(places[1:], active) {
		places = append(places, active)
	}
	for i, place := range places {
		for _, b := range bundledCLIs {
			found := findIn(place, b.pattern)
			if b.python != (i > 0) || len(found) == 0 ||
				b.beside != "" && len(findIn(place, b.beside)) == 0 {
				continue
			}
			checks = append(checks, setup.Note(b.tool+" in an SDK",
				fmt.Sprintf("%s brings a %s of its own: calls through it bypass the shim",
					a.Tilde(found[0]), b.tool),
				fmt.Sprintf(b.fix, filepath.Join(setup.ShimDirectory(a), b.tool))))
		}
	}
	return checks
}

// findIn returns the matches of a constant pattern in a directory.
func findIn(dir, pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(rewrite.Literal(dir), pattern))
	return found
}

// checkNpx looks at the shim of npx. Without that, calls by npx bypass the shims: it reports the
// tools that npx has a package of, in the working directory or in the cache.
func checkNpx(a *app.App) (checks []setup.Check) {
	p := binary.Locate(a.Environ, a.Own, binary.Npx, "")
	switch {
	case p.Real == "":
		return nil // there is no npx
	case setup.Runnable(filepath.Join(setup.ShimDirectory(a), binary.Npx)):
		return []setup.Check{checkTool(a, p, "")}
	}
	dir, _ := os.Getwd() // findIn finds nothing then
	cache := cmp.Or(a.Getenv("npm_config_cache"), filepath.Join(a.Getenv("HOME"), ".npm"))
	for _, name := range rewrite.Names {
		tool, _ := rewrite.Lookup(name)
		for _, pack := range tool.Descriptor().Packages {
			found := append(findIn(dir, "node_modules/"+pack),
				findIn(cache, "_npx/*/node_modules/"+pack)...)
			if len(found) > 0 {
				checks = append(checks, setup.Note(name+" by npx",
					a.Tilde(found[0])+" is what npx runs: its calls bypass the shim",
					"run shimctl setup --npx"))
				break
			}
		}
	}
	return checks
}

// restatedCalls is how many of the latest calls are looked at.
const restatedCalls = 100

// checkCalls names the versions with calls that have shown that the shim can do less with them, and
// the models of claude with latest sessions that a resume will not find in the provider's cache.
func checkCalls(a *app.App) (checks []setup.Check) {
	l, err := a.OpenOrEmpty()
	if err != nil {
		return nil // the check of the ledger says why
	}
	defer l.Close()
	found := map[string]bool{}
	if calls, err := history.LatestCalls(l, history.Query{Limit: restatedCalls}); err == nil {
		for _, i := range calls {
			found[i.Model] = found[i.Model] || i.Tool == "claude" && i.OneRequest() &&
				models.Restated(i.Model)
		}
	}
	notes, _ := Versions(l) // the check of the ledger names the error
	for _, n := range notes {
		checks = append(checks, setup.Note(n.Tool+" output", n.Says, n.Fix))
	}
	for _, model := range slices.Sorted(maps.Keys(found)) {
		if found[model] {
			checks = append(checks, setup.Note("claude cache", why.RestatedWords(model),
				"nothing needs to be done: resuming stops where it costs more (dearer); shimctl "+
					"stats shows what resumed calls found"))
		}
	}
	return checks
}

// Untested says that a version of a tool is newer than all tested ones, and for how long it has
// been installed, "" if it is not.
func Untested(tool, version, path string, now time.Time) string {
	list := tested.Own().Tool(tool)
	if version == "" || list.Version() == "" || tested.Compare(version, list.Version()) <= 0 {
		return ""
	}
	age := ""
	if info, err := os.Stat(path); err == nil {
		age = ", installed today"
		if days := int64(now.Sub(info.ModTime()).Hours() / 24); days > 0 {
			age = ", " + view.Count(days, "day") + " old"
		}
	}
	return fmt.Sprintf("%s is not tested yet%s; the newest tested version is %s", version, age,
		list.Version())
}

// A versionNote is about an installed version of a tool that the shim can do less with.
type versionNote struct{ Tool, Says, Fix string }

// Versions returns the limits of the installed versions, as calls have shown them.
func Versions(l *ledger.Ledger) (notes []versionNote, err error) {
	known, err := l.Runtimes()
	for _, r := range known {
		if !r.Refuses && !r.Unread || binary.Fingerprint(r.Path) != r.Fingerprint {
			continue
		}
		does := "prints what this version of reprise cannot read: its calls are not resumed"
		if r.Refuses {
			does = "fails with the options that the shim adds: its calls run as they were written"
		}
		notes = append(notes, versionNote{r.Tool, strings.TrimSpace(r.Tool+" "+r.Version) + " " +
			does, "use a version that was tried, or update reprise"})
	}
	return notes, err
}
