package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/test/toolbox"
)

type runner struct {
	sample int
	seed   uint64
	only   string
	list   bool
	known  map[string]bool // equivalent mutants
	work   string          // a directory for what is built
}

// A test is one test function, with the mutants that it reaches.
type test struct {
	binary, dir, name string
	took              time.Duration
	reaches           map[int]bool
}

// target tries the mutants of one package's files, and returns how many survive.
func (r *runner) target(t target) (survivors int, err error) {
	if r.work, err = os.MkdirTemp("", "mutate-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(r.work)
	mutants, err := r.instrument(t)
	if err != nil {
		return 0, err
	}
	if r.list {
		for _, m := range mutants {
			fmt.Println(m)
		}
		return 0, nil
	}
	tests, err := r.tests(t)
	if err != nil {
		return 0, err
	}
	for _, name := range t.files {
		n, err := r.file(filepath.Join(t.dir, name), mutants, tests)
		if err != nil {
			return 0, err
		}
		survivors += n
	}
	return survivors, nil
}

// file tries the mutants of one file.
func (r *runner) file(path string, mutants []*mutant, tests []*test) (survivors int, err error) {
	var mine []*mutant
	equivalent := 0
	for _, m := range mutants {
		switch {
		case m.file != path || !strings.Contains(m.String(), r.only):
		case r.known[m.file+"\t"+m.what]:
			equivalent++
		default:
			mine = append(mine, m)
		}
	}
	if r.sample > 0 && len(mine) > r.sample {
		chance := rand.New(rand.NewPCG(r.seed, 0))
		chance.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
		mine = mine[:r.sample]
		slices.SortFunc(mine, func(a, b *mutant) int { return a.number - b.number })
	}
	for _, m := range mine {
		verdict, err := r.try(m, tests)
		if err != nil {
			return 0, fmt.Errorf("try %s: %w", m, err)
		}
		if verdict != killed {
			survivors++
			fmt.Printf("%s: %s\n", m, verdict)
		}
	}
	if len(mine) > 0 {
		fmt.Printf("== %s: %d of %d killed (%.0f %%), and %d that are equivalent\n", path,
			len(mine)-survivors, len(mine), 100*float64(len(mine)-survivors)/float64(len(mine)), equivalent)
	}
	return survivors, nil
}

// The verdicts on a mutant.
const (
	killed    = "killed"
	survives  = "survives"
	unreached = "survives: no test reaches it"
)

// try runs the tests that reach a mutant, the quick ones first.
func (r *runner) try(m *mutant, tests []*test) (verdict string, err error) {
	batches := map[string][]*test{} // by binary and speed
	var order []string
	for _, t := range tests {
		if !t.reaches[m.number] {
			continue
		}
		key := t.binary
		if t.took > 300*time.Millisecond {
			key += t.name
		}
		if batches[key] == nil {
			order = append(order, key)
		}
		batches[key] = append(batches[key], t)
	}
	if len(order) == 0 {
		return unreached, nil
	}
	if err := r.choose(strconv.Itoa(m.number)); err != nil {
		return "", err
	}
	for _, key := range order {
		batch := batches[key]
		var names []string
		limit := 20 * time.Second
		for _, t := range batch {
			names, limit = append(names, t.name), limit+5*t.took
		}
		if ok, _ := run(batch[0], "^("+strings.Join(names, "|")+")$", limit); !ok {
			return killed, nil
		}
	}
	return survives, nil
}

// choose sets the switches: "0" for none, a number for that mutant, a path to record there what is
// reached.
func (r *runner) choose(what string) error {
	return os.WriteFile(filepath.Join(r.work, "chosen"), []byte(what), 0o600)
}

// run runs some tests of a binary, and reports whether they pass.
func run(t *test, pattern string, limit time.Duration) (ok bool, took time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.binary, "-test.failfast", "-test.run", pattern)
	cmd.Dir, cmd.WaitDelay = t.dir, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	begun := time.Now()
	err := cmd.Run()
	return err == nil, time.Since(begun)
}

// instrument writes the files of a package with all their mutants, and an overlay that names them.
func (r *runner) instrument(t target) ([]*mutant, error) {
	fset := token.NewFileSet()
	names, imports, err := packages(t.dir)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, filepath.Join(t.dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// C declarations are not known here. The compiler finds any other error.
	config := types.Config{FakeImportC: true, Importer: importer.ForCompiler(fset, "gc", imports), Error: func(error) {}}
	pkg, _ := config.Check(t.dir, fset, files, info)
	var mutants []*mutant
	overlay := map[string]string{}
	replace := func(name, text string) error {
		here, err := filepath.Abs(filepath.Join(t.dir, name))
		if err != nil {
			return err
		}
		overlay[here] = filepath.Join(r.work, name)
		return os.WriteFile(overlay[here], []byte(text), 0o600)
	}
	for i, name := range names {
		if !slices.Contains(t.files, name) {
			continue
		}
		source, err := os.ReadFile(filepath.Join(t.dir, name))
		if err != nil {
			return nil, err
		}
		e := &editor{path: filepath.Join(t.dir, name), source: string(source), fset: fset, info: info, pkg: pkg, mutants: &mutants}
		if err := replace(name, e.file(files[i])); err != nil {
			return nil, err
		}
	}
	switches := fmt.Sprintf(switchesText, pkg.Name(), len(mutants)+1, filepath.Join(r.work, "chosen"))
	if err := replace("mutants_chosen.go", switches); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	return mutants, os.WriteFile(filepath.Join(r.work, "overlay.json"), text, 0o600)
}

// packages returns a package's files for this platform, and what opens the compiler's export data of those it imports.
func packages(dir string) (files []string, imports importer.Lookup, err error) {
	out, err := toolbox.Output("go", "list", "-export", "-deps", "-f",
		`{{.ImportPath}}{{"\t"}}{{.Export}}{{"\t"}}{{if not .DepOnly}}{{join .GoFiles " "}} {{join .CgoFiles " "}}{{end}}`, "./"+dir)
	exports := map[string]string{}
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		exports[fields[0]], files = fields[1], append(files, strings.Fields(fields[2])...)
	}
	return files, func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }, err
}

// tests builds the tests, and finds out which mutants each of them reaches. It leaves out tests
// that fail without a mutant.
func (r *runner) tests(t target) ([]*test, error) {
	if err := r.choose("0"); err != nil {
		return nil, err
	}
	var list []*test
	for i, pkg := range t.tests {
		binary := filepath.Join(r.work, fmt.Sprintf("tests%d", i))
		if _, err := toolbox.Output("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(r.work, "overlay.json"), "-o", binary, pkg); err != nil {
			return nil, err
		}
		cmd := exec.Command(binary, "-test.list", ".")
		cmd.Dir = pkg
		names, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list tests: %w", err)
		}
		for _, name := range strings.Fields(string(names)) {
			if strings.HasPrefix(name, "Benchmark") {
				continue
			}
			one := &test{binary: binary, dir: pkg, name: name}
			if err := r.reach(one); err != nil {
				return nil, err
			}
			if one.reaches == nil {
				fmt.Printf("%s: %s fails without a mutant, and is left out\n", pkg, name)
				continue
			}
			list = append(list, one)
		}
	}
	slices.SortStableFunc(list, func(a, b *test) int { return int(a.took - b.took) })
	return list, nil
}

// reach records which mutants a test reaches; none if it fails.
func (r *runner) reach(t *test) error {
	notes := filepath.Join(r.work, "reached")
	if err := r.choose(notes); err != nil {
		return err
	}
	var ok bool
	if ok, t.took = run(t, "^"+t.name+"$", 2*time.Minute); !ok {
		return nil
	}
	t.reaches = map[int]bool{}
	text, err := os.ReadFile(notes)
	if os.IsNotExist(err) {
		return nil
	}
	for field := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(field)
		if err != nil {
			return fmt.Errorf("read what is reached: %w", err)
		}
		t.reaches[n] = true
	}
	return errors.Join(err, os.Remove(notes))
}

// switchesText is added to a package with mutants. The mutant is chosen by a file, not by an
// environment variable, since tests give their children an environment of their own.
const switchesText = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var mutantReached [%d]atomic.Bool

var mutantNumberNow, mutantNotes = func() (int, string) {
	text, _ := os.ReadFile(%q)
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return 0, string(text)
	}
	return n, ""
}()

func mutantIs(n int) bool {
	if mutantNotes != "" && !mutantReached[n].Swap(true) {
		if f, err := os.OpenFile(mutantNotes, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err == nil {
			f.WriteString(strconv.Itoa(n) + "\n")
			f.Close()
		}
	}
	return n == mutantNumberNow
}

func mutant[T any](n int, other, original func() T) T {
	if mutantIs(n) {
		return other()
	}
	return original()
}
`
