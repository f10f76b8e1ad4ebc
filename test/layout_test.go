package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// At the top stand the words of the design; packages that serve shimctl or the tests alone are
// below internal.
func TestLayout(t *testing.T) {
	allowed := []string{"cmd", "config", "docs", "fleet", "internal", "ledger", "rewrite",
		"scripts", "shim", "test", "testdata", "watch"}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s stands at the top", e.Name())
		}
	}
}

// Built files are not kept: a large file in the history stays with every clone.
func TestNothingBuiltIsKept(t *testing.T) {
	const large = 2 << 20
	out, err := exec.Command("git", "-C", "..", "ls-tree", "-r", "-l", "HEAD").Output()
	if err != nil {
		t.Skip("not a git checkout")
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if size, err := strconv.Atoi(fields[3]); err == nil && size > large {
			t.Errorf("%s has %d bytes", fields[4], size)
		}
	}
}

// Imports run down only. config and watch are leaves: they know rewrite alone. No program that is
// installed has support of tests.
func TestFloors(t *testing.T) {
	above := map[string][]string{
		"rewrite":  {"ledger", "fleet", "shim", "config", "watch", "cmd", "internal", "test"},
		"ledger":   {"fleet", "shim", "config", "watch", "cmd", "internal", "test"},
		"fleet":    {"shim", "watch", "cmd", "internal", "test"},
		"config":   {"ledger", "fleet", "shim", "watch", "cmd", "internal", "test"},
		"watch":    {"ledger", "fleet", "shim", "config", "cmd", "internal", "test"},
		"shim":     {"cmd", "fleet", "internal", "test"},
		"cmd":      {"test"},
		"internal": {"fleet", "test"},
	}
	for floor, unknown := range above {
		out, err := exec.Command("go", "list", "-f",
			`{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "../"+floor+"/...").Output()
		if err != nil {
			t.Fatalf("%s: %v", floor, err)
		}
		for line := range strings.Lines(string(out)) {
			names := strings.Fields(line)
			for _, imported := range names[1:] {
				path, own := strings.CutPrefix(imported, "reprise/")
				if room, _, _ := strings.Cut(path, "/"); own && slices.Contains(unknown, room) {
					t.Errorf("%s imports %s", names[0], imported)
				}
			}
		}
	}
}

// A room below a floor knows only the rooms that are named here. No tool knows another one.
func TestRooms(t *testing.T) {
	rooms := map[string][]string{
		"rewrite/reason":   nil,
		"rewrite/prompt":   {"reprise/rewrite/reason"},
		"rewrite/models":   nil,
		"rewrite/jsonline": nil,
		"rewrite": {"reprise/rewrite/jsonline", "reprise/rewrite/prompt",
			"reprise/rewrite/reason"},
		"rewrite/tool/grammar": {"reprise/rewrite"},
		"rewrite/tool/base": {"reprise/rewrite", "reprise/rewrite/jsonline",
			"reprise/rewrite/reason", "reprise/rewrite/tool/grammar"},
		"ledger/proc": nil,
		"ledger/history": {"reprise/ledger", "reprise/ledger/decide", "reprise/rewrite",
			"reprise/rewrite/prompt", "reprise/rewrite/reason"},
		"ledger/decide": {"reprise/ledger/proc", "reprise/rewrite", "reprise/rewrite/models",
			"reprise/rewrite/prompt", "reprise/rewrite/reason"},
		"shim/caller":    {"reprise/ledger/decide", "reprise/ledger/proc"},
		"shim/front":     nil,
		"shim/disk":      nil,
		"shim/variables": {"reprise/config", "reprise/shim/front"},
		"shim/git": {"reprise/config", "reprise/rewrite/reason", "reprise/shim/disk",
			"reprise/shim/front", "reprise/shim/variables"},
		"shim/session": {"reprise/ledger/decide", "reprise/rewrite",
			"reprise/rewrite/reason", "reprise/shim/disk"},
		"shim/work": {"reprise/ledger/decide", "reprise/shim/disk", "reprise/shim/git"},
		"shim/binary": {"reprise/config", "reprise/rewrite", "reprise/rewrite/tool/base",
			"reprise/shim/disk", "reprise/shim/front",
			"reprise/shim/supervise", "reprise/shim/variables"},
		"shim/supervise": {"reprise/rewrite", "reprise/rewrite/prompt", "reprise/rewrite/reason",
			"reprise/shim/disk", "reprise/shim/front", "reprise/watch"},
	}
	tools, err := filepath.Glob("../rewrite/tool/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tools {
		room := strings.TrimPrefix(filepath.Dir(file), "../")
		if _, named := rooms[room]; !named {
			rooms[room] = []string{"reprise/rewrite", "reprise/rewrite/jsonline",
				"reprise/rewrite/prompt", "reprise/rewrite/reason",
				"reprise/rewrite/tool/base", "reprise/rewrite/tool/grammar"}
		}
	}
	below, err := filepath.Glob("../shim/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range below {
		room := strings.TrimPrefix(filepath.Dir(file), "../")
		if _, named := rooms[room]; !named {
			t.Errorf("%s has no row here", room)
			rooms[room] = nil
		}
	}
	for room, known := range rooms {
		out, err := exec.Command("go", "list", "-f", `{{range .Imports}}{{.}}
{{end}}`, "../"+room).Output()
		if err != nil {
			t.Fatalf("%s: %v", room, err)
		}
		for _, imported := range strings.Fields(string(out)) {
			if strings.HasPrefix(imported, "reprise/") && !slices.Contains(known, imported) {
				t.Errorf("%s imports %s", room, imported)
			}
		}
	}
}

// The engine is linked into the helper alone: it would make every other program start more slowly.
func TestWhoLinksTheEngine(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`,
		"reprise/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		helper := fields[0] == "reprise/cmd/reprise-store" ||
			strings.HasPrefix(fields[0], "reprise/test/")
		if !helper && slices.Contains(fields[1:], "reprise/fleet/s3") {
			t.Errorf("%s links the engine", fields[0])
		}
	}
}

// A package below internal/ctl imports, of those that serve shimctl alone, only the packages that
// are named here.
func TestRoomsOfShimctl(t *testing.T) {
	rooms := map[string][]string{
		"ctl/view":     {"prices"},
		"ctl/app":      {"ctl/view", "prices"},
		"ctl/saving":   {"ctl/view"},
		"ctl/textfile": {"ctl/app"},
		"ctl/setup":    {"ctl/app", "ctl/textfile", "ctl/view"},
		"ctl/rule":     {"ctl/app", "ctl/textfile", "ctl/view", "transcript"},
		"ctl/remove":   {"ctl/app", "ctl/view", "prune", "sessionfile"},
		"ctl/why":      {"ctl/app", "ctl/rule", "ctl/view", "tested"},
		"ctl/doctor":   {"ctl/app", "ctl/setup", "ctl/view", "tested"},
		"ctl/report":   {"ctl/app", "ctl/saving", "ctl/textfile", "ctl/view"},
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports ","}}`,
		"../internal/ctl/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		room := strings.TrimPrefix(path, "reprise/internal/")
		known, ok := rooms[room]
		if !ok && room != "ctl" {
			t.Errorf("%s has no row here", room)
		}
		for _, imported := range strings.Split(imports, ",") {
			if name, own := strings.CutPrefix(imported, "reprise/internal/"); own &&
				room != "ctl" && !slices.Contains(known, name) {
				t.Errorf("%s imports %s", room, imported)
			}
		}
	}
}

// No package has more lines than a reader holds in mind.
func TestPackagesAreShort(t *testing.T) {
	const most = 5000
	out, err := exec.Command("go", "list", "-f",
		`{{.ImportPath}} {{.Dir}} {{join .GoFiles ","}},{{join .CgoFiles ","}}`, "../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields, lines := strings.Fields(line), 0
		for _, file := range strings.FieldsFunc(fields[2], func(r rune) bool { return r == ',' }) {
			text, err := os.ReadFile(filepath.Join(fields[1], file))
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(text), "\n")
		}
		if lines > most {
			t.Errorf("%s has %d lines", fields[0], lines)
		}
	}
}

// The parts of a call are small: a struct of shim has few fields, a type few methods. An
// Explanation is the content of a page of shimctl; supervise is one run of a program.
func TestPartsOfACallAreSmall(t *testing.T) {
	const mostFields, mostMethods = 12, 40
	methods := map[string]int{}
	err := filepath.WalkDir("../shim", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.Contains(name, "/supervise/") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && s.Fields.NumFields() > mostFields &&
					n.Name.Name != "Explanation" {
					t.Errorf("%s: %s has %d fields", name, n.Name.Name, s.Fields.NumFields())
				}
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[filepath.Dir(name)+" "+types.ExprString(n.Recv.List[0].Type)]++
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for receiver, n := range methods {
		if n > mostMethods {
			t.Errorf("%s has %d methods", receiver, n)
		}
	}
}
