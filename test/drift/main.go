// Command drift compares two versions of the real CLIs, without and with the shim, and prints one
// report. Its exit status is 0 if nothing differs that a caller or the shim can rely on, 1 if
// something does, and 2 if it could not tell.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"

	"reprise/internal/tested"
	"reprise/test/harness"
	"reprise/test/realcli"
	"reprise/test/toolbox"
)

// An outcome is the result of a comparison; it is the exit status too.
type outcome int

const (
	clean outcome = iota
	differs
	unknown
)

func (o outcome) String() string {
	return [...]string{"nothing differs that matters", "DIFFERS", "COULD NOT TELL"}[o]
}

type options struct {
	tool, old, new, since, run string
	pin                        bool
}

func main() {
	var o options
	flag.StringVar(&o.tool, "tool", "", "compare versions of this `tool` or SDK only")
	flag.StringVar(&o.old, "tested", "", "the older `version` (default: the pin)")
	flag.StringVar(&o.new, "new", "", "the newer `version` (default: the newest in the "+
		"registry); \"newest\" for all tools that have a newer one than their pin")
	flag.StringVar(&o.since, "since", "", "compare the pins with those of this `commit`")
	flag.StringVar(&o.run, "run", "", "make only the calls that match this `regexp`, and do not "+
		"try the shim")
	flag.BoolVar(&o.pin, "pin", false,
		"without -run, if nothing differs that matters, pin the newer version in "+list+"; the pin until then stays as tried")
	flag.Parse()
	toolbox.RestoreSignals()
	came, err := o.main(os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		came = unknown
	}
	os.Exit(int(came))
}

func (o options) main(out io.Writer) (outcome, error) {
	match, err := regexp.Compile(o.run)
	if err != nil {
		return unknown, err
	}
	pairs, err := o.pairs()
	if err != nil {
		return unknown, err
	}
	shims := ""
	if o.run == "" && len(pairs) > 0 {
		if shims, err = os.MkdirTemp("", "reprise-drift-shims-"); err != nil {
			return unknown, err
		}
		defer os.RemoveAll(shims)
		if err := harness.Build(shims); err != nil {
			return unknown, err
		}
	}
	came := clean
	for _, p := range pairs {
		r := p.compare(match, shims)
		if o.pin && o.run == "" && r.outcome() == clean && !p.unbuilt {
			if err := p.pin(); err != nil {
				return unknown, err
			}
		}
		came = worse(came, r.outcome())
		fmt.Fprintln(out, r)
	}
	if len(pairs) == 0 {
		fmt.Fprintln(out, "no tool has another version than the one that is tested")
	}
	return came, nil
}

const list = "internal/tested/tested.json"

// pin replaces the older version by the newer one, as Renovate does. A tool's stays as tried.
func (p pair) pin() error {
	text, err := os.ReadFile(list)
	pin := regexp.MustCompile(`("pin": "` + p.old.Asked + `[@=]+)` +
		regexp.QuoteMeta(p.old.Version) + `"(,\s*"tried": ")?`)
	if m := pin.FindSubmatchIndex(text); err == nil && m != nil {
		tried := ""
		if m[4] >= 0 {
			tried = "${2}" + p.old.Version + " "
		}
		err = os.WriteFile(list, pin.ReplaceAll(text,
			[]byte("${1}"+p.new.Version+`"`+tried)), 0o644)
	}
	return err
}

// worse returns the outcome of two. A difference that was seen counts, whatever else could not be
// told.
func worse(a, b outcome) outcome {
	if a == differs || b == differs {
		return differs
	}
	return max(a, b)
}

// A pair is two versions of a tool or an SDK. If the newer one is not known, why says so.
type pair struct {
	old, new realcli.Pin
	unbuilt  bool // the newer one is not there for this platform
	why      error
}

// pairs returns the versions to compare.
func (o options) pairs() (all []pair, err error) {
	pins := maps.Clone(realcli.Pins)
	maps.Copy(pins, realcli.ByJobs)
	tools := slices.Sorted(maps.Keys(pins))
	if o.tool != "" {
		if _, ok := pins[o.tool]; !ok {
			return nil, fmt.Errorf("no calls are known of the tool %q", o.tool)
		}
		tools = []string{o.tool}
	} else if o.since == "" && o.new != "newest" {
		return nil, errors.New("-tested and -new need -tool")
	}
	var before tested.Versions
	if o.since != "" {
		text, err := exec.Command("git", "show", o.since+":"+list).Output()
		if err == nil {
			err = json.Unmarshal(text, &before)
		}
		if err != nil {
			return nil, fmt.Errorf("read the pins of %s: %w", o.since, err)
		}
	}
	for _, tool := range tools {
		p := pair{old: pins[tool], new: pins[tool]}
		if o.old != "" {
			p.old = p.old.At(o.old)
		}
		switch {
		case o.since != "":
			p.old = p.old.At(before.Tool(tool).Version())
		case o.new == "" || o.new == "newest":
			var newest string
			// droid's can be older here and there
			if newest, p.why = realcli.Newest(p.new); tested.Compare(newest, p.new.Version) > 0 {
				p.new = p.new.At(newest)
				built, err := realcli.Built(p.new)
				p.unbuilt, p.why = !built, err
			}
		default:
			p.new = p.new.At(o.new)
		}
		chosen := o.old != "" && o.new != "" // also a version with itself
		if known := p.old.Version != ""; p.why != nil ||
			known && (chosen || p.old.Version != p.new.Version) {
			all = append(all, p)
		}
	}
	return all, nil
}
