// Command fake replaces Claude Code in the fault tests: it starts fast, keeps sessions, and records
// what it was asked and whether two runs ever worked in one session at once. FAKE_DIR is where it
// records that; FAKE_ANSWER, FAKE_MS and FAKE_EXIT set its answer, duration and exit code. With
// FAKE_DETACH a resumed run works in another process. With FAKE_ORPHAN that process outlives its
// parent and prints nothing until it is done.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A run is the record of a call, a line of JSON in FAKE_DIR/runs.
type run struct {
	Resumed string // the requested session, "" for a new one
	ID      string
	Managed bool // requested by the shim, not the caller
	Prompt  string
}

func main() {
	r, stream := parse(os.Args[1:])
	if os.Getenv("FAKE_DETACH") != "" && r.Resumed != "" {
		detach()
	}
	silent := os.Getenv("FAKE_ORPHAN") != "" && r.Resumed != ""
	if silent {
		outlive()
	}
	answer, exit := os.Getenv("FAKE_ANSWER"), number("FAKE_EXIT")
	if r.Resumed != "" && !exists(file(r.Resumed)) {
		fmt.Fprintln(os.Stderr, "No conversation found with session ID: "+r.Resumed)
		os.Exit(1)
	}
	if r.Resumed != "" && !ended(file(r.Resumed)) {
		note("unsafe", r)
	}
	note("runs", r)
	if !alone(r.ID) {
		note("overlaps", r)
	}
	write(r.ID, "begins")
	if stream && !silent {
		fmt.Printf("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":%q,\"claude_code_version\":\"2.1.329\"}\n", r.ID)
	}
	time.Sleep(time.Duration(number("FAKE_MS")) * time.Millisecond)
	entry, err := json.Marshal(map[string]any{
		"type": "assistant", "timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"message": map[string]any{"model": "m", "content": []any{map[string]string{"type": "text", "text": answer}}},
	})
	check(err)
	write(r.ID, string(entry))
	write(r.ID, "ends")
	if !stream {
		fmt.Println(answer)
		os.Exit(exit)
	}
	fmt.Printf("{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":%q}]},\"session_id\":%q}\n", answer, r.ID)
	fmt.Printf("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":%q,\"session_id\":%q,\"total_cost_usd\":0.5}\n", answer, r.ID)
	os.Exit(exit)
}

// detach continues in another process, which outlives this one's parent. It keeps its streams.
func detach() {
	_ = os.Unsetenv("FAKE_DETACH")
	p, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Setsid: true}})
	check(err)
	state, err := p.Wait()
	check(err)
	os.Exit(state.ExitCode())
}

func parse(args []string) (r run, stream bool) {
	for i, arg := range args {
		if i+1 < len(args) {
			switch arg {
			case "--resume":
				r.Resumed, r.Managed = args[i+1], true
			case "--session-id":
				r.ID, r.Managed = args[i+1], true
			case "--output-format":
				stream = args[i+1] == "stream-json"
			case "-p":
				r.Prompt = args[i+1]
			}
		}
	}
	if r.Resumed != "" {
		r.ID = r.Resumed
	}
	if r.ID == "" {
		r.ID = newID()
	}
	return r, stream
}

func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func number(name string) int {
	n, _ := strconv.Atoi(os.Getenv(name)) // unset is 0
	return n
}

var notAlphanumeric = regexp.MustCompile("[^A-Za-z0-9]")

func file(id string) string {
	dir, err := os.Getwd()
	check(err)
	return filepath.Join(os.Getenv("HOME"), ".claude", "projects", notAlphanumeric.ReplaceAllString(dir, "-"), id+".jsonl")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ended reports whether the session's latest turn ended.
func ended(path string) bool {
	text, err := os.ReadFile(path)
	check(err)
	return strings.HasSuffix(string(text), "ends\n")
}

// alone takes the session for as long as this process lives, and reports whether no other process
// had it.
func alone(id string) bool {
	f, err := os.OpenFile(filepath.Join(os.Getenv("FAKE_DIR"), id), os.O_CREATE|os.O_RDWR, 0o600)
	check(err)
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil // f is never closed
}

func write(id, what string) {
	check(os.MkdirAll(filepath.Dir(file(id)), 0o700))
	appendTo(file(id), []byte(what+"\n"))
}

func note(name string, r run) {
	line, err := json.Marshal(r)
	check(err)
	appendTo(filepath.Join(os.Getenv("FAKE_DIR"), name), append(line, '\n'))
}

func appendTo(path string, data []byte) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(err)
	_, err = f.Write(data)
	check(err)
	check(f.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}
