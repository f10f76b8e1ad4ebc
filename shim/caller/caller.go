// Package caller finds the programs above a process that might have made the call, and whether a
// person typed it.
//
// It reads how the system shows the processes and asks none of them. Invariant: an uncertain fact
// is left out.
package caller

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
)

// Limits on reading about the processes above a call.
const (
	maxCallers    = 7  // processes
	maxCallerName = 40 // bytes
)

// procRoot is where Linux shows the processes. Without it the caller is unknown.
const procRoot = "/proc"

// Find returns the processes above this process that might have made the call.
func Find() decide.Caller { return find(procRoot, proc.BootID(), os.Getpid(), os.Getppid()) }

// find returns the processes above a process that might have made the call. root is where the
// processes are shown, boot the current boot.
func find(root, boot string, pid, parent int) decide.Caller {
	self, err := os.Readlink(filepath.Join(root, "self"))
	namespace, noNamespace := os.Readlink(filepath.Join(root, "self/ns/pid"))
	if err != nil || noNamespace != nil || self != strconv.Itoa(pid) {
		return decide.Caller{} // other PIDs are shown than the process's own namespace has
	}
	t, c := processTable(root), decide.Caller{}
	below := processStat{parent: parent, start: math.MaxInt64}
	for range maxCallers {
		p, ok := t.read(below.parent)
		if !ok || p.start > below.start { // the parent has ended, and the PID is another process's
			return c
		}
		role, name := t.role(p)
		found := decide.CallerProcess{Process: proc.Process{Boot: boot, Namespace: namespace,
			PID: p.pid, Start: p.start}, Name: cleanName(name)}
		switch {
		case role == roleProgram && !c.Person:
			c.Processes = append(c.Processes, found)
		case role == roleShell && len(c.Processes) == 0:
			c.Person, c.Shell = true, found // the outermost: a typed loop can run in a subshell
		default:
			c.Person = c.Person || role == rolePerson && len(c.Processes) == 0
			return c
		}
		below = p
	}
	return c
}

// A processTable is the path of a mounted proc file system.
type processTable string

// A processStat is a process as the file stat shows it.
type processStat struct {
	pid, parent int
	terminal    bool // it has a controlling terminal
	start       int64
	// the name of the program or script, at most maxCommand bytes; it might have changed that
	command string
}

// read returns the facts about a process; ok reports whether they are known.
func (t processTable) read(pid int) (p processStat, ok bool) {
	text := t.file(pid, "stat")
	first, last := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if first < 0 || last < first {
		return p, false
	}
	fields := strings.Fields(text[last+1:]) // from the third on: the state
	if len(fields) < 20 {
		return p, false
	}
	parent, badParent := strconv.Atoi(fields[1])
	start, badStart := strconv.ParseInt(fields[19], 10, 64)
	p = processStat{pid, parent, fields[4] != "0", start, text[first+1 : last]}
	return p, badParent == nil && badStart == nil
}

// arguments returns a process's command line. A process that has overwritten it, or that is hidden,
// has none.
func (t processTable) arguments(pid int) []string {
	args := strings.Split(t.file(pid, "cmdline"), "\x00")
	return args[:len(args)-1]
}

// file returns a process's file, "" if it cannot be read.
func (t processTable) file(pid int, name string) string {
	text, _ := os.ReadFile(filepath.Join(string(t), strconv.Itoa(pid), name))
	return string(text)
}

// readsTerminal reports whether a process's stdin is a terminal. If that is hidden, it is taken to
// be if the process has one. dash and ash redirect their own stdin while a command of theirs runs;
// then they have the terminal as descriptor 10.
func (t processTable) readsTerminal(p processStat) bool {
	for _, descriptor := range []string{"0", "10"} {
		file, err := os.Readlink(filepath.Join(string(t), strconv.Itoa(p.pid), "fd", descriptor))
		switch {
		case err != nil && descriptor == "0":
			return p.terminal
		case slices.ContainsFunc(terminals, func(name string) bool {
			return strings.HasPrefix(file, name)
		}):
			return true
		}
	}
	return false
}

// terminals are how the names of terminals begin.
var terminals = []string{"/dev/pts/", "/dev/tty", "/dev/console", "/dev/hvc"}

// A callerRole is the part of a process in a call.
type callerRole int

const (
	roleProgram callerRole = iota // it might have made the call
	// an interactive shell, or an interpreter that a person types into
	roleShell
	rolePerson  // a person works with it: a terminal, an editor
	roleService // it starts jobs that have nothing to do with each other
	roleUnknown
)

// role returns the part of a process in a call, and the name: the script's if it is an
// interpreter.
func (t processTable) role(p processStat) (callerRole, string) {
	name := programName(p.command)
	if role := roleOf(name); role != roleProgram {
		return role, name
	}
	i, known := interpreterNamed(p.command)
	if !known {
		return roleProgram, name
	}
	args := t.arguments(p.pid)
	if len(args) == 0 {
		return roleUnknown, name
	}
	script, fromStdin := i.parse(args[1:])
	switch {
	case fromStdin && (strings.HasPrefix(args[0], "-") || t.readsTerminal(p)):
		return roleShell, name
	case script == "":
		return roleProgram, name
	}
	return roleOf(script), script
}

// programName returns the program's part of a process's own name, such as "tmux: server" or
// "npm run x". The rest can be arguments.
func programName(command string) string {
	if at := strings.IndexAny(command, " :("); at > 0 {
		return command[:at]
	}
	return command
}

// cleanName returns a name that can be stored and shown.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	return strings.ToValidUTF8(name[:min(len(name), maxCallerName)], "")
}
