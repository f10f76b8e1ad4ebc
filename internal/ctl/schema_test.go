package ctl

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/test/sample"
	"reprise/test/toolbox"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The output of --json is as the published schema says.
func TestAnswersFollowTheSchema(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/shimctl.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Chdir(home)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("shimctl.schema.json", document); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Dir(sample.Ledger(t, 200, true)),
		filepath.Join(home, "reprise")); err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	if err := toolbox.Make(programs); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, command := range []string{
		"status", "show", "show c1", "log", "show 1", "stats", "stats --by tool",
		"doctor", "config",
		"why -- claude -p hi", "why", "why 1", "prune -n",
	} {
		args := strings.Fields(command)
		if at := slices.Index(args, "--"); at > 0 {
			args = slices.Insert(args, at, "--json")
		} else {
			args = append(args, "--json")
		}
		var said, complaint bytes.Buffer
		a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &said},
			Stderr: view.Screen{Writer: &complaint}, Now: time.Now(),
			Environ: append([]string{"XDG_STATE_HOME=" + home, "PATH=" + programs},
				toolbox.Home(home)...)}
		code := a.Run(newRoot(a), args)
		out := said.Bytes()
		if len(out) == 0 {
			t.Errorf("%s: exit status %d: %s", command, code, &complaint)
			continue
		}
		if command == "log" { // an object a line
			out, _, _ = bytes.Cut(out, []byte("\n"))
		}
		answer, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		if err != nil {
			t.Errorf("%s: %v: %s", command, err, out)
			continue
		}
		name, _ := answer.(map[string]any)["schema"].(string)
		schema, err := compiler.Compile("shimctl.schema.json" + reference(name)["$ref"].(string))
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		seen[name] = true
		if err := schema.Validate(answer); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	// the first needs installed shims, the second a prompt in a tool's file
	others := []string{"shimctl.setup/1", "shimctl.rule.add/1"}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if !seen[name] && !slices.Contains(others, name) {
			t.Errorf("no answer has the schema %s", name)
		}
	}
}
