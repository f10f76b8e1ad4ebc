package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A frame is what is read of a line of a conversation.
type frame struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype string `json:"subtype"`
	} `json:"request"`
	Response struct {
		RequestID string `json:"request_id"`
	} `json:"response"`
	Message struct {
		Content string `json:"content"`
	} `json:"message"`
	Result string  `json:"result"`
	Cost   float64 `json:"total_cost_usd"`
}

// A fakeTalk is the tool's side of a conversation.
type fakeTalk struct {
	run   *Run
	s     Script
	in    *bufio.Scanner
	later []string // read while an answer was awaited
	file  string
	turns int // of the session
	save  func()
}

// converse answers the caller's frames until its stdin ends.
func (r *Run) converse(tool fakeTool, q request, s Script, file string, turns int, dir, call string) int {
	t := &fakeTalk{run: r, s: s, in: bufio.NewScanner(os.Stdin), file: file, turns: turns, save: func() { r.save(dir, call) }}
	t.in.Buffer(nil, 64<<20)
	_, _ = io.WriteString(os.Stderr, s.Noise)
	if s.Ending == Early && !r.Refused {
		_, _ = io.WriteString(os.Stderr, "something broke\n")
		return s.Code
	}
	for line, ok := t.read(); ok; line, ok = t.read() {
		var f frame
		check(json.Unmarshal([]byte(line), &f))
		switch f.Type {
		case "control_request":
			fmt.Printf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`+"\n", f.RequestID)
		case "user":
			if !t.turn(tool, q, f.Message.Content) {
				return s.Code
			}
		}
	}
	time.Sleep(time.Duration(s.Wind) * time.Millisecond)
	if f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0); err == nil {
		fmt.Fprintln(f, `{"type":"cost-state"}`)
		f.Close()
	}
	switch s.Ending {
	case Status:
		return s.Code
	case Limit:
		return tool.limit(q.format)
	}
	return 0
}

func (t *fakeTalk) read() (line string, ok bool) {
	if len(t.later) > 0 {
		line, t.later = t.later[0], t.later[1:]
		return line, true
	}
	ok = t.in.Scan()
	return t.in.Text(), ok
}

// ask calls a hook of the caller's and waits for the answer.
func (t *fakeTalk) ask() {
	id := newID()
	fmt.Printf(`{"type":"control_request","request_id":%q,"request":{"subtype":"hook_callback","callback_id":"hook","input":{"session_id":%q,"n":%d}}}`+"\n",
		id, t.run.Session, len(t.run.Later))
	for t.in.Scan() {
		var f frame
		check(json.Unmarshal(t.in.Bytes(), &f))
		if f.Type == "control_response" && f.Response.RequestID == id {
			return
		}
		t.later = append(t.later, t.in.Text())
	}
}

// turn answers a message, and reports whether the run goes on.
func (t *fakeTalk) turn(tool fakeTool, q request, text string) bool {
	r, s := t.run, t.s
	own := r.Prompt != ""
	if own {
		r.Later = append(r.Later, text)
	} else {
		r.Prompt = text
	}
	t.save()
	if s.Hook {
		t.ask()
	}
	if r.Refused { // under another ID: the shim must end this run
		shown, exit := tool.refused(q.format, s, r)
		r.print(shown, s, exit, func(int) {})
		return false
	}
	time.Sleep(time.Duration(s.Lead) * time.Millisecond)
	check(os.MkdirAll(filepath.Dir(t.file), 0o700))
	f, err := os.OpenFile(t.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(err)
	defer f.Close()
	fmt.Fprintln(f, r.entry("claude", "user", text))
	t.turns++
	s = s.turn(len(r.Later))
	if !stops(s.Ending) && s.Ending != Limit {
		for _, said := range s.Said {
			fmt.Fprintln(f, r.entry("claude", "assistant", said))
		}
		r.Results++
		t.save()
	}
	_, _ = io.WriteString(os.Stdout, fakeClaude{}.shown("stream-json", s, r, t.turns).Stdout)
	s.stop()
	return s.Ending != Middle
}

// turn returns the script of a turn of a conversation.
func (s Script) turn(n int) Script {
	s.Noise, s.NoFinal = "", false
	if n > 0 {
		s.Said = []string{fmt.Sprintf("Answer %d. %s", n+1, s.Said[len(s.Said)-1])}
	}
	return s
}
