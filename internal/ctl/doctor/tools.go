package doctor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"reprise/internal/ctl/setup"
	"reprise/internal/tested"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/shim/binary"
)

var versionNumber = regexp.MustCompile(`\d+(\.\d+)+`)

// version compares a tool's version with the tested ones. It adds no check if the tool prints no
// version or none of it was tested.
func (d *checkup) version(name, said string) {
	version := versionNumber.FindString(said)
	tool := tested.BuiltIn().Tool(name)
	if version == "" || tool.Pin == "" {
		return
	}
	check, rows := name+" version", tool.Rows()
	oldest, newest := rows[0].Version, rows[len(rows)-1].Version
	at := slices.IndexFunc(rows, func(r tested.Result) bool { return r.Version == version })
	finds := untested(name, version)
	switch {
	case at >= 0 && rows[at] == tested.Result{Version: version}:
		d.OK(check, version+" was tried with the shim")
		return
	case at >= 0:
		finds = fmt.Sprintf("was tried with the shim: passed through %s; fresh %s; resume %s",
			cmp.Or(rows[at].PassedThrough, "ok"), cmp.Or(rows[at].Fresh, "ok"),
			cmp.Or(rows[at].Resumes, "yes"))
	case tested.Compare(version, oldest) < 0:
		finds = fmt.Sprintf("was not tried, only %s to %s: its output might be rendered "+
			"differently", oldest, newest)
	case finds == "":
		d.OK(check, fmt.Sprintf("%s lies between versions that were tried, %s to %s", version,
			oldest, newest))
		return
	}
	d.Note(check, version+" "+finds, fmt.Sprintf("install %s if calls go wrong, or leave the "+
		"tool alone with enabled = false under [tool.%s]", newest, name))
}

// wrapper names a script behind the shim that gets the calls as they were written.
func (d *checkup) wrapper(p binary.Place) {
	if p.Wrapper {
		d.Note(p.Name+" wrapper", d.Tilde(p.Real)+" is a script that minds what is added to its "+
			"arguments: its calls are passed through",
			"have it look for options anywhere and exec "+p.Name+", or put it before the shims "+
				"and have it run "+p.Name+" by its name")
	}
}

// bundledCLIs are where SDKs keep CLIs of their own, and how they are told to use another one. The
// patterns are relative to a project, or to a virtual environment of Python.
var bundledCLIs = []struct {
	tool, pattern string
	beside        string // another pattern that must be met, "" for none
	fix           string
}{
	{"claude", "node_modules/@anthropic-ai/claude-agent-sdk-*/claude*", "",
		"pathToClaudeCodeExecutable: %q in the options of query()"},
	{"claude", "node_modules/@anthropic-ai/claude-agent-sdk/cli.js", "",
		"pathToClaudeCodeExecutable: %q in the options of query()"},
	{"codex", "node_modules/@openai/codex-sdk/package.json", "",
		"new Codex({ codexPathOverride: %q })"},
	{"codex", "node_modules/ai-sdk-provider-codex-cli/package.json",
		"node_modules/@openai/codex/package.json", "codexPath: %q in the model's settings"},
	{"claude", "lib/python3*/site-packages/claude_agent_sdk/_bundled/claude", "",
		"pip install --force-reinstall --no-deps --no-binary claude-agent-sdk claude-agent-sdk, " +
			"which has none, or ClaudeAgentOptions(cli_path=%q)"},
	{"codex", "lib/python3*/site-packages/openai_codex_sdk/vendor/*/codex/codex", "",
		`Codex({"codex_path_override": %q})`},
}

// bundled reports the CLIs that SDKs in the working directory bundle: their calls bypass the shims.
func (d *checkup) bundled() {
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	places := []string{dir, filepath.Join(dir, ".venv"), filepath.Join(dir, "venv")}
	if active := os.Getenv("VIRTUAL_ENV"); active != "" && !slices.Contains(places, active) {
		places = append(places, active)
	}
	for _, place := range places {
		for _, b := range bundledCLIs {
			found := findIn(place, b.pattern)
			if len(found) == 0 || b.beside != "" && len(findIn(place, b.beside)) == 0 {
				continue
			}
			d.Note(b.tool+" in an SDK",
				fmt.Sprintf("%s brings a %s of its own: calls through it bypass the shim",
					d.Tilde(found[0]), b.tool),
				fmt.Sprintf(b.fix, filepath.Join(d.shims, b.tool)))
		}
	}
}

// findIn returns the matches of a constant pattern in a directory.
func findIn(dir, pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(rewrite.Literal(dir), pattern))
	return found
}

// npx looks at the shim of npx. Without that, calls by npx bypass the shims: it reports the tools
// that npx has a package of, in the working directory or in the cache.
func (d *checkup) npx() {
	p := binary.Locate(d.Environ, d.Own, binary.Npx, "")
	switch {
	case p.Real == "":
		return // there is no npx
	case setup.Runnable(filepath.Join(d.shims, binary.Npx)):
		d.tool(p, "")
		return
	}
	dir, _ := os.Getwd() // findIn finds nothing then
	cache := cmp.Or(d.Getenv("npm_config_cache"), filepath.Join(d.Getenv("HOME"), ".npm"))
	for _, name := range rewrite.Names {
		tool, _ := rewrite.Lookup(name)
		for _, pack := range tool.Descriptor().Packages {
			found := append(findIn(dir, "node_modules/"+pack),
				findIn(cache, "_npx/*/node_modules/"+pack)...)
			if len(found) > 0 {
				d.Note(name+" by npx", d.Tilde(found[0])+" is what npx runs: its calls bypass "+
					"the shim", "run shimctl setup --npx")
				break
			}
		}
	}
}

// calls names the versions with calls that have shown that the shim can do less with them.
func (d *checkup) calls() {
	l, err := d.OpenOrEmpty()
	if err != nil {
		return // the check of the ledger says why
	}
	defer l.Close()
	notes, _ := Versions(l) // the check of the ledger names the error
	for _, n := range notes {
		if n.shown {
			d.Note(n.Tool+" output", n.Says, "use a version that was tried, or update reprise")
		}
	}
}

// untested says that a version of a tool is newer than all tested ones, "" if it is not.
func untested(tool, version string) string {
	newest := tested.BuiltIn().Tool(tool).Version()
	if version == "" || newest == "" || tested.Compare(version, newest) <= 0 {
		return ""
	}
	return "is not tested yet; the newest tested version is " + newest
}

// A versionNote is about an installed version of a tool that the shim can do less with, or that was
// not tested.
type versionNote struct {
	Tool, Says string
	shown      bool // by calls
}

// Versions returns the limits of the installed versions that calls have run.
func Versions(l *ledger.Ledger) (notes []versionNote, err error) {
	known, err := l.Runtimes()
	for _, r := range known {
		does := untested(r.Tool, r.Version)
		switch {
		case r.Refuses:
			does = "fails with the options that the shim adds: its calls run as they were written"
		case r.Unread:
			does = "prints what this version of reprise cannot read: its calls are not resumed"
		}
		if does != "" && binary.Fingerprint(r.Path) == r.Fingerprint {
			notes = append(notes, versionNote{r.Tool,
				strings.TrimSpace(r.Tool+" "+r.Version) + " " + does, r.Refuses || r.Unread})
		}
	}
	return notes, err
}
