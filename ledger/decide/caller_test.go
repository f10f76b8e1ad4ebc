package decide

import (
	"fmt"
	"testing"

	"reprise/ledger/proc"
)

// callerOf returns a caller with processes that have these PIDs, on one machine.
func callerOf(pids ...int) Caller {
	c := Caller{}
	for _, pid := range pids {
		c.Processes = append(c.Processes, callerProcess(pid))
	}
	return c
}

// personOf returns a person with a shell of that PID, or without a shell.
func personOf(pid int) Caller {
	c := Caller{Person: true}
	if pid > 0 {
		c.Shell = callerProcess(pid)
	}
	return c
}

func callerProcess(pid int) CallerProcess {
	return CallerProcess{proc.Process{Boot: "boot", Namespace: "pid:[1]",
		PID: pid, Start: int64(pid) * 100}, fmt.Sprintf("program %d.sh", pid)}
}

// The run of a call is the nearest program's, or the outermost shell's.
func TestRun(t *testing.T) {
	below := func(name string, c Caller) Caller {
		c.Processes = append(callerOf(11).Processes, c.Processes...)
		c.Processes[0].Name = name
		return c
	}
	for want, c := range map[string]Caller{"": personOf(7), "program 9.sh": callerOf(9, 7),
		"program 7.sh": below("sh", callerOf(7)),
		"timeout":      below("timeout", Caller{}), "npx": below("npx", personOf(7))} {
		if got := c.Run().Name; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (Caller{}).Run().Name; got != "" {
		t.Errorf("an unknown caller is %q", got)
	}
}

// Only the same run of the same program is the same caller, and a person only for a moment.
func TestSameCaller(t *testing.T) {
	changed := func(c Caller, change func(*Caller)) Caller {
		change(&c)
		return c
	}
	pid := 20
	under := func(names ...string) (c Caller) { // the programs below program 7, the nearest first
		for _, name := range names {
			pid++
			p := callerProcess(pid)
			p.Name = name
			c.Processes = append(c.Processes, p)
		}
		c.Processes = append(c.Processes, callerProcess(7))
		return c
	}
	// a coder.sh that ran other ones, with one above it until that ended
	deep, orphaned := under("coder.sh", "coder.sh", "coder.sh"), under("coder.sh", "coder.sh",
		"coder.sh")
	orphaned.Processes[2] = deep.Processes[1]
	noNamespace := func(c *Caller) { c.Processes[0].Namespace = "" }
	noBoot := func(c *Caller) { c.Processes[0].Boot = "" }
	noStart := func(c *Caller) { c.Processes[0].Start = 0 }
	for name, tt := range map[string]struct {
		now, earlier Caller
		idle         Millis
		want         string // "" for another caller
	}{
		"one script":               {callerOf(7), callerOf(7), 3_600_000, "program 7.sh"},
		"through other wrappers":   {under("timeout"), under("sh"), 0, "program 7.sh"},
		"at another depth":         {under("sh", "nice"), callerOf(7), 0, "program 7.sh"},
		"now directly":             {callerOf(7), under("bash", "env"), 0, "program 7.sh"},
		"the same script below it": {under("sh", "coder.sh"), under("coder.sh"), 0, "program 7.sh"},
		"two scripts below it":     {under("coder.sh"), under("tester.sh"), 0, ""},
		"a script below it":        {under("coder.sh"), callerOf(7), 0, ""},
		"two depths below another": {orphaned, deep, 0, ""},
		"two scripts":              {callerOf(30), callerOf(20), 0, ""},
		"the PID of another": {callerOf(7),
			changed(callerOf(7), func(c *Caller) { c.Processes[0].Start++ }), 0, ""},
		"another boot": {callerOf(7),
			changed(callerOf(7), func(c *Caller) { c.Processes[0].Boot = "other" }), 0, ""},
		"another namespace": {callerOf(7),
			changed(callerOf(7), func(c *Caller) { c.Processes[0].Namespace = "pid:[2]" }), 0, ""},
		"it has renamed itself": {callerOf(7), changed(callerOf(7), func(c *Caller) {
			c.Processes[0].Name = "other"
		}), 0, "program 7.sh"},
		"no namespace is known": {changed(callerOf(7), noNamespace),
			changed(callerOf(7), noNamespace), 0, ""},
		"no boot is known": {changed(callerOf(7), noBoot), changed(callerOf(7), noBoot),
			0, ""},
		"no start is known": {changed(callerOf(7), noStart), changed(callerOf(7), noStart),
			0, ""},
		"both unknown":             {Caller{}, Caller{}, 0, ""},
		"a person at once":         {personOf(7), personOf(7), 0, "program 7.sh"},
		"a person within a second": {personOf(7), personOf(7), 1000, "program 7.sh"},
		"a person later":           {personOf(7), personOf(7), 1001, ""},
		"a person meanwhile":       {personOf(7), personOf(7), -1, ""},
		"a person elsewhere":       {personOf(8), personOf(7), 0, ""},
		"persons without shells":   {personOf(0), personOf(0), 0, ""},
		"a person, then a script":  {callerOf(7), personOf(7), 0, ""},
		"a script, then a person":  {personOf(7), callerOf(7), 0, ""},
	} {
		if got := tt.now.SameAs(tt.earlier, tt.idle); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	// Nor is a script the same as its shell, with any caller.
	script := changed(callerOf(9), func(c *Caller) { c.Shell = callerProcess(7) })
	for _, pair := range [][2]Caller{{script, personOf(7)}, {personOf(7), script}} {
		if pair[0].SameAs(pair[1], 0) != "" {
			t.Errorf("%+v is the same as %+v", pair[0], pair[1])
		}
	}
}
