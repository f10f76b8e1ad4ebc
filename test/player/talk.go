package player

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"
)

// A Frame has the fields that are read of a line of a conversation.
type Frame struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Response  struct {
		RequestID string `json:"request_id"`
	} `json:"response"`
	Message struct {
		Content string `json:"content"`
	} `json:"message"`
}

// A talk is the tool's side of a conversation.
type talk struct {
	*player
	in    *bufio.Scanner
	later []string // read while an answer was awaited
}

// converse answers the caller's frames until its stdin ends.
func (p *player) converse() int {
	t := &talk{player: p, in: bufio.NewScanner(os.Stdin)}
	t.in.Buffer(nil, 64<<20)
	_, _ = io.WriteString(os.Stderr, p.Noise)
	if p.Ending == Early && !p.Refused {
		_, _ = io.WriteString(os.Stderr, "something broke\n")
		return p.Code
	}
	p.turns-- // each message begins one
	for line, ok := t.read(); ok; line, ok = t.read() {
		var f Frame
		check(json.Unmarshal([]byte(line), &f))
		switch f.Type {
		case "control_request":
			fmt.Printf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`+"\n", f.RequestID)
		case "user":
			if !t.turn(f.Message.Content) {
				return p.Code
			}
		}
	}
	time.Sleep(time.Duration(p.Wind) * time.Millisecond)
	if f, err := os.OpenFile(p.file, os.O_APPEND|os.O_WRONLY, 0); err == nil {
		fmt.Fprintln(f, `{"type":"cost-state"}`)
		f.Close()
	}
	if p.Ending == Limit {
		return p.exitOfLimit(p.format)
	}
	return p.exit()
}

func (t *talk) read() (line string, ok bool) {
	if len(t.later) > 0 {
		line, t.later = t.later[0], t.later[1:]
		return line, true
	}
	ok = t.in.Scan()
	return t.in.Text(), ok
}

// ask calls a hook of the caller's and waits for the answer.
func (t *talk) ask() {
	id := uuid.NewString()
	fmt.Printf(`{"type":"control_request","request_id":%q,"request":{"subtype":"hook_callback","callback_id":"hook","input":{"session_id":%q,"n":%d}}}`+"\n",
		id, t.Session, len(t.Later))
	for t.in.Scan() {
		var f Frame
		check(json.Unmarshal(t.in.Bytes(), &f))
		if f.Type == "control_response" && f.Response.RequestID == id {
			return
		}
		t.later = append(t.later, t.in.Text())
	}
}

// turn answers a message, and reports whether the run goes on.
func (t *talk) turn(text string) bool {
	if t.Prompt != "" {
		t.Later = append(t.Later, text)
	} else {
		t.Prompt = text
	}
	t.record()
	if t.Hook {
		t.ask()
	}
	if t.Refused { // under another ID: the shim must end this run
		t.refuse()
		return false
	}
	time.Sleep(time.Duration(t.Lead) * time.Millisecond)
	f, err := t.note("user", text)
	check(err)
	defer f.Close()
	t.turns++
	s := t.Turn(len(t.Later))
	if !s.Ending.Stops() && s.Ending != Limit {
		for _, said := range s.Said {
			t.write(f, "assistant", said)
		}
		t.Results++
		t.record()
	}
	_, _ = io.WriteString(os.Stdout, t.dialect.show("stream-json", s, t.Run).Stdout)
	s.stop()
	return s.Ending != Middle
}

// Turn returns the script of a turn of a conversation.
func (s Script) Turn(n int) Script {
	s.Noise, s.NoFinal = "", false
	if n > 0 {
		s.Said = []string{fmt.Sprintf("Answer %d. %s", n+1, s.last())}
	}
	return s
}
