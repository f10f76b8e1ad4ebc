// Mutate makes small mistakes in the files that decide, one at a time, and reports those that no
// test notices.
//
// All mutants of a package are compiled into one test binary with -overlay, each behind a switch:
// the source tree is not changed, and a mutant costs a run of the tests that reach it instead of a
// build.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/test/toolbox"
)

// A target is a package with files that decide, and the packages whose tests must notice.
type target struct {
	dir   string
	files []string
	tests []string
}

// targets says which tests are run for which files.
var targets = []target{
	{"ledger/decide", []string{"decide.go", "facts.go", "fingerprints.go", "changed.go", "caller.go"}, []string{"./ledger/decide", "./ledger"}},
	{"ledger/decide", []string{"verdict.go"}, []string{"./ledger/decide", "./shim"}}, // which has the labelled sequences
	{"ledger", []string{"candidates.go", "ticket.go", "outcome.go"}, []string{"./ledger"}},
	{"ledger", []string{"answers.go"}, []string{"./ledger", "./shim"}},
	{"rewrite/prompt", []string{
		"compare.go", "delta.go", "section.go", "transcript.go", "labels.go", "messages.go", "prompt.go", "clock.go",
	}, []string{"./rewrite/prompt"}},
	{"rewrite/prompt", []string{"evidence.go", "words.go", "traces.go"}, []string{"./rewrite/prompt", "./shim"}}, // likewise
	{"rewrite/jsonline", []string{"marks.go"}, []string{"./rewrite/jsonline", "./rewrite/tool/claude"}},
	{"rewrite/tool/claude", []string{"stream.go", "session_file.go"}, []string{"./rewrite/tool/claude", "./rewrite/tool"}},
	{"rewrite/tool/codex", []string{"stream.go"}, []string{"./rewrite/tool/codex", "./rewrite/tool"}},
	{"rewrite/tool/copilot", []string{"stream.go"}, []string{"./rewrite/tool/copilot", "./rewrite/tool"}},
	{"rewrite/tool/gemini", []string{"stream.go"}, []string{"./rewrite/tool/gemini", "./rewrite/tool"}},
	{"rewrite/tool/vibe", []string{"stream.go"}, []string{"./rewrite/tool/vibe", "./rewrite/tool"}},
	{"rewrite/tool/base", []string{"stream.go"}, []string{"./rewrite/tool/..."}},
	{"shim/supervise", []string{"attempt.go", "loop.go", "writer.go", "conversation.go", "dialogue.go"}, []string{"./shim/supervise", "./shim"}},
	{"shim/front", []string{"exec.go"}, []string{"./shim", "./shim/front"}},
	{"shim/caller", []string{"caller.go"}, []string{"./shim/caller"}},
	{"internal/prune", []string{"prune.go"}, []string{"./internal/prune"}},
}

func main() {
	var r runner
	flag.IntVar(&r.sample, "sample", 0, "try `n` mutants of each file, chosen by chance; 0 for all")
	flag.Uint64Var(&r.seed, "seed", 0, "choose them by this `number`; 0 for another one each time")
	flag.StringVar(&r.only, "only", "", "try the mutants whose line or description contains this `text`")
	flag.BoolVar(&r.list, "list", false, "list the mutants, and try none")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./test/mutate [flags] [file ...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	toolbox.RestoreSignals() // tests that rely on signals would fail under nohup
	if r.seed == 0 {
		r.seed = rand.Uint64N(1e9) + 1
	}
	good, err := r.all(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// all tries the mutants of some files, given by their paths, or of all files of the table. It
// reports whether none survived.
func (r *runner) all(paths []string) (good bool, err error) {
	if r.known, err = readEquivalent(); err != nil {
		return false, err
	}
	if r.sample > 0 {
		fmt.Printf("seed %d\n", r.seed)
	}
	asked := map[string]bool{}
	for _, path := range paths {
		asked[filepath.Clean(path)] = true
	}
	good = true
	for _, t := range targets {
		t.files = slices.DeleteFunc(slices.Clone(t.files), func(name string) bool {
			return len(paths) > 0 && !asked[filepath.Join(t.dir, name)]
		})
		for _, name := range t.files {
			delete(asked, filepath.Join(t.dir, name))
		}
		if len(t.files) == 0 {
			continue
		}
		survivors, err := r.target(t)
		if err != nil {
			return false, fmt.Errorf("%s: %w", t.dir, err)
		}
		good = good && survivors == 0
	}
	for path := range asked {
		return false, fmt.Errorf("%s is not in the table of test/mutate", path)
	}
	return good, nil
}

// readEquivalent reads the mutants known to behave like the original. Each line has the file, the
// description and the reason, separated by tabs.
func readEquivalent() (map[string]bool, error) {
	text, err := os.ReadFile("test/mutate/equivalent.txt")
	if err != nil {
		return nil, fmt.Errorf("read the known mutants (run this at the root of the repository): %w", err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("equivalent.txt: not three fields: %s", strings.TrimSpace(line))
		}
		known[fields[0]+"\t"+fields[1]] = true
	}
	return known, nil
}
