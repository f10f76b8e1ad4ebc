package decide

import (
	"fmt"
	"slices"
	"strings"

	"reprise/ledger/proc"
)

// A Caller is the processes above a call that might have made it, the nearest first, up to a
// person's shell or terminal or a service manager. The zero value is an unknown caller.
type Caller struct {
	Processes []CallerProcess `json:"processes,omitempty"`
	// Person reports whether a person typed the call: there is no process between it and an
	// interactive shell, a terminal or an editor.
	Person bool `json:"person,omitempty"`
	// The person's interactive shell, the zero value if there is none.
	Shell CallerProcess `json:"shell,omitzero"`
}

// A CallerProcess is a process above a call.
type CallerProcess struct {
	proc.Process
	Name string `json:"name"` // of the program or script, without directory; no control characters
}

// personPause is how long after the end of an earlier run a person's next call counts as the same
// caller's. A typed loop makes the next call within it.
const personPause Millis = 1000

// Run returns the nearest process that is a separate program: each run of a script has another.
// Shells, and programs that only start another one, count where there is nothing else. The zero
// value is an unknown run.
func (c Caller) Run() CallerProcess {
	var last CallerProcess
	for _, last = range c.Processes {
		if !slices.Contains(wrappers, last.Name) {
			break
		}
	}
	return last
}

// Identity tells a process apart from all others, "" if that is not known.
func (p CallerProcess) Identity() string {
	if !p.known() {
		return ""
	}
	return fmt.Sprintf("%s\t%s\t%d.%d.%s", p.Boot, p.Namespace, p.PID, p.Start, p.Name)
}

func (p CallerProcess) known() bool { return p.Boot != "" && p.Namespace != "" && p.Start > 0 }

// wrappers are programs that only start another one: they do not distinguish two callers.
var wrappers = strings.Fields("sh bash dash ash zsh timeout nice env sudo npm npx uv xargs " +
	"stdbuf script setsid")

// scripts returns the names of the programs that can have made a call, without wrappers.
func scripts(processes []CallerProcess) (names []string) {
	for _, p := range processes {
		if !slices.Contains(wrappers, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// isSame reports whether a process is an earlier caller's. An unknown boot, namespace or start
// equals no other.
func isSame(p, e CallerProcess) bool {
	return p.Process == e.Process && p.known()
}

// SameAs returns the name of the program that made this call and an earlier one in one run, "" for
// none. Only the nearest program above both counts: it has lived through both. The programs between
// it and each call must have the same names. A person who typed both in one shell is the same
// caller only shortly after the earlier run: idle is the time from the end to this call's start.
func (c Caller) SameAs(earlier Caller, idle Millis) (name string) {
	for i, p := range c.Processes {
		k := slices.IndexFunc(earlier.Processes, func(e CallerProcess) bool {
			return isSame(p, e)
		})
		if k < 0 {
			continue
		}
		if slices.Equal(scripts(c.Processes[:i]), scripts(earlier.Processes[:k])) {
			return p.Name
		}
		break
	}
	if c.SameShell(earlier) && idle >= 0 && idle <= personPause {
		return c.Shell.Name
	}
	return ""
}

// SameShell reports whether a person typed this call and an earlier one in one shell.
func (c Caller) SameShell(earlier Caller) bool {
	return c.Person && earlier.Person && isSame(c.Shell, earlier.Shell)
}
