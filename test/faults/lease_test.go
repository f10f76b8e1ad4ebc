package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"

	"reprise/test/harness"
)

var waitIsOver = kind{"leases", "the wait is over before the session is free", func(w *world) {
	w.waits()
	holder := w.hold(call{prompt: job(1), ms: 35_000})
	w.resumes(call{prompt: job(2)}, false)
	w.must(holder.Wait())
	w.sound(0)
}}

var leaseKinds = []kind{
	{"leases", "64 calls wait for one session", func(w *world) {
		w.waits()
		w.call(call{prompt: job(0), task: "one"})
		w.burst(1, func(int) string { return "one" })
		if fresh := w.reasons("WHERE mode = 'fresh' AND reason <> 'first_call'"); fresh != "" {
			w.lose("not all waited: %s", fresh)
		}
	}},
	{"leases", "its holder is killed", func(w *world) {
		holder := w.hold(call{prompt: job(1), ms: 60_000})
		w.kill(holder)
		w.resumes(call{prompt: job(2)}, false)
		w.resumes(call{prompt: job(3)}, true)
		w.sound(1)
	}},
	{"leases", "its holder is killed while another waits", func(w *world) {
		w.waits()
		holder := w.hold(call{prompt: job(1), ms: 60_000})
		done := make(chan harness.Result)
		go func() { done <- w.call(call{prompt: job(2)}) }()
		w.kill(holder)
		if r := <-done; r.Took.Seconds() > 30 {
			w.lose("it waited for no process")
		}
		w.sound(1)
	}},
	{"leases", "its holder is killed, the tool works on", func(w *world) {
		w.call(call{prompt: job(0)})
		holder := w.start(call{prompt: job(1), ms: 1500, detached: true})
		w.wait(func() bool { return len(w.runs()) == 2 })
		w.kill(holder)
		for i := range 5 {
			w.call(call{prompt: job(2 + i)})
		}
		w.sound(1)
	}},
	{"leases", "its holder is killed, a silent tool works on", func(w *world) {
		w.kill(w.hold(call{prompt: job(1), ms: 5000, orphan: true}))
		w.resumes(call{prompt: job(2)}, false)
		if why := w.reasons("WHERE id = 3"); why != "leased " {
			w.lose("the next call was fresh for %q", why)
		}
		w.sound(1)
	}},
	{"leases", "its holder is stopped", func(w *world) {
		holder := w.hold(call{prompt: job(1), ms: 200})
		w.must(holder.Process.Signal(syscall.SIGSTOP))
		w.resumes(call{prompt: job(2)}, false)
		w.must(holder.Process.Signal(syscall.SIGCONT))
		w.must(holder.Wait())
		w.sound(0)
	}},
	{"leases", "its holder's pid belongs to another process now", func(w *world) {
		w.waits()
		w.kill(w.hold(call{prompt: job(1), ms: 60_000}))
		statement(fmt.Sprintf("UPDATE leases SET pid = %d, child = iif(child_start = 0, 0, %[1]d)",
			os.Getpid()))(w)
		w.resumes(call{prompt: job(2)}, false)
		w.sound(1)
	}},
	{"leases", "the machine was started anew", func(w *world) {
		w.waits()
		w.kill(w.hold(call{prompt: job(1), ms: 60_000}))
		statement(fmt.Sprintf("UPDATE leases SET pid = %d, pid_start = 0, boot = 'another'",
			os.Getpid()))(w)
		w.resumes(call{prompt: job(2)}, false)
		w.sound(1)
	}},
	{"leases", "a call is ended while it waits", func(w *world) {
		w.waits()
		holder := w.hold(call{prompt: job(1), ms: 60_000})
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP,
			syscall.SIGKILL} {
			waiting := w.start(call{prompt: job(2)})
			w.wait(func() bool { return w.asleep(waiting) })
			w.must(waiting.Process.Signal(sig))
			var exit *exec.ExitError
			if err := waiting.Wait(); !errors.As(err, &exit) ||
				exit.Sys().(syscall.WaitStatus).Signal() != sig {
				w.lose("after %v: %v", sig, err)
			}
		}
		w.kill(holder)
		w.sound(1)
	}},
	{"privacy", "umask 000", func(w *world) {
		w.call(call{prompt: job(0), sh: "umask 000"})
		w.private()
	}},
	{"privacy", "umask 000, an outcome that had to wait", func(w *world) {
		w.call(call{prompt: job(0), sh: "umask 000"})
		c := w.start(call{prompt: job(1), ms: 300, sh: "umask 000"})
		w.wait(func() bool { return len(w.runs()) == 2 })
		release := w.lock("BEGIN IMMEDIATE")
		w.must(c.Wait())
		w.private()
		release()
		w.resumes(call{prompt: job(2)}, true)
	}},
	{"privacy", "files and directory open to all", func(w *world) {
		w.call(call{prompt: job(0)})
		w.must(exec.Command("chmod", "-R", "a+rwX", w.state("")).Run())
		w.call(call{prompt: job(1)})
		w.private()
	}},
	{"privacy", "the log is put aside", func(w *world) {
		w.call(call{prompt: job(0)})
		w.must(errors.Join(os.Truncate(w.state("shim.log"), 2<<20),
			os.Chmod(w.state("shim.log"), 0o666)))
		w.call(call{prompt: job(1), sh: "umask 000"})
		w.private()
	}},
}

// waits makes busy calls wait.
func (w *world) waits() {
	w.must(w.Configure("busy = \"wait\"\n"))
}

// reasons returns why calls were resumed or fresh.
func (w *world) reasons(where string) (text string) {
	db := w.open()
	defer db.Close()
	w.must(db.QueryRow("SELECT coalesce(group_concat(reason || ' ' || detail), '') FROM " +
		"calls " + where).Scan(&text))
	return text
}

// start makes a call without waiting for its end.
func (w *world) start(c call) *exec.Cmd {
	cmd := w.command(c)
	w.must(cmd.Start())
	return cmd
}

// hold makes a call that resumes a session, and waits until it has resumed it and no process writes
// to the ledger any more.
func (w *world) hold(c call) *exec.Cmd {
	w.call(call{prompt: job(0)})
	holder := w.start(c)
	w.wait(func() bool { return len(w.runs()) == 2 })
	if !w.last().Resumed {
		w.lose("the session was not resumed")
	}
	db := w.open()
	defer db.Close()
	w.wait(func() bool {
		var known bool
		err := db.QueryRow("SELECT child_start <> 0 FROM leases").Scan(&known)
		return err == nil && known
	})
	return holder
}

// kill kills a call, and checks whether the tool ends with it.
func (w *world) kill(cmd *exec.Cmd) {
	w.must(cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

// asleep reports whether a process still waits, some time after its start.
func (w *world) asleep(cmd *exec.Cmd) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", cmd.Process.Pid))
	w.must(err)
	var ran, waited, slices int
	if _, err := fmt.Sscan(string(text), &ran, &waited, &slices); err != nil {
		return false
	}
	const settled = 20
	return slices > settled
}

// private checks that no other user can read or change our files, and that they contain no text of
// a prompt or an answer.
func (w *world) private() {
	for _, exposed := range w.Exposed(
		regexp.MustCompile("You are the coder|Keep every function|Note 0|" + answer)) {
		w.lose("%s", exposed)
	}
}
