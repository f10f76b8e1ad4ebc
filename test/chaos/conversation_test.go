package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"reprise/test/player"
)

// A talk is the caller's side of a conversation, as an agent SDK leads it.
type talk struct {
	messages []string
	waits    bool   // for the answer to initialize
	together bool   // all messages are sent at once
	requests bool   // interrupts are sent between the messages
	leaves   string // the caller's action before the end, "" for none
	hasty    bool   // the next call begins while this one is winding down

	in    io.WriteCloser
	ended chan struct{} // closed when the last result has been read, or nothing more will be
}

// How a caller can leave.
const (
	leavesUnread  = "closes stdin before the results"
	leavesSilent  = "closes stdin before the first message"
	leavesBetween = "closes stdin after the first result"
	leavesDead    = "dies in the middle"
)

// newTalk generates a conversation that begins with a prompt.
func (c *Call) newTalk(prompt string, rng *rand.Rand) *talk {
	t := &talk{messages: []string{prompt}, waits: rng.IntN(2) == 0, hasty: c.thread.Hasty,
		ended: make(chan struct{})}
	if c.thread.Style != Transcript && rng.IntN(3) == 0 {
		for i := range 1 + rng.IntN(3) {
			t.messages = append(t.messages, fmt.Sprintf("Message %d. %s", i,
				c.world.text(rng, c.thread.Key, 20)))
		}
	}
	t.together, t.requests = rng.IntN(4) == 0, rng.IntN(4) == 0
	if rng.IntN(5) == 0 {
		t.leaves = draw(rng, []string{leavesUnread, leavesSilent, leavesBetween, leavesDead})
	}
	return t
}

// lead leads the conversation. It returns when the tool's output has ended, or the caller has.
func (t *talk) lead(in io.WriteCloser, stdout io.Reader) {
	t.in = in
	over := func() {
		t.in.Close()
		close(t.ended)
	}
	out := bufio.NewScanner(stdout)
	out.Buffer(nil, 64<<20)
	if t.talk(out) && t.leaves == leavesDead {
		over()
		return
	}
	over()
	for out.Scan() {
	}
}

// talk sends the messages. It reports whether the caller has come to the point where it leaves.
func (t *talk) talk(out *bufio.Scanner) bool {
	t.send(`{"type":"control_request","request_id":"init","request":{"subtype":"initialize"}}`)
	if t.waits && !t.until(out, "control_response") {
		return false
	}
	if t.leaves == leavesSilent {
		return true
	}
	for i, message := range t.messages {
		text, _ := json.Marshal(message)
		t.send(fmt.Sprintf(`{"type":"user","session_id":"","message":{"role":"user","content":%s}}`,
			text))
		if t.requests {
			t.send(fmt.Sprintf(`{"type":"control_request","request_id":"stop%d","request":{"subtype":"interrupt"}}`, i))
		}
		if t.leaves == leavesDead && i == len(t.messages)/2 {
			return t.until(out, "system")
		}
		last := i == len(t.messages)-1
		if t.together && !last || last && t.leaves == leavesUnread {
			continue
		}
		wanted := 1
		if t.together {
			wanted = len(t.messages)
		}
		for range wanted {
			if !t.until(out, "result") {
				return false
			}
		}
		if t.leaves == leavesBetween {
			return true
		}
	}
	return t.leaves == leavesUnread
}

// the tool might have ended
func (t *talk) send(line string) { _, _ = io.WriteString(t.in, line+"\n") }

// until reads up to a line of a type, and answers requests.
func (t *talk) until(out *bufio.Scanner, kind string) bool {
	for out.Scan() {
		var f player.Frame
		_ = json.Unmarshal(out.Bytes(), &f) // the end of a run that was killed
		if f.Type == "control_request" {
			t.send(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`, f.RequestID))
		}
		if f.Type == kind {
			return true
		}
	}
	return false
}

// toolRuns returns the runs without those that were started only to answer a caller, and were given
// no message.
func (c *Call) toolRuns() []player.Run {
	if c.talk == nil {
		return c.runs
	}
	last := c.runs[max(0, len(c.runs)-1):]
	runs := slices.DeleteFunc(slices.Clone(c.runs), func(r player.Run) bool {
		return !r.Resumed && r.Prompt == "" && r.PID != last[0].PID
	})
	if len(runs) == 1 && runs[0].Prompt == "" && !runs[0].Resumed { // all that there was
		return nil
	}
	return runs
}

// checkTalk checks the output and the messages of a conversation: each message
// in order, nothing twice, and the figures of this call.
func (c *Call) checkTalk() {
	t := c.talk
	asked, hooks := map[string]int{}, 0
	var events []string
	for line := range strings.Lines(c.Stdout) {
		var f player.Frame
		if json.Unmarshal([]byte(line), &f) != nil {
			events = append(events, line)
			continue
		}
		switch f.Type {
		case "control_response":
			asked[f.Response.RequestID]++
		case "control_request":
			hooks++
		default:
			events = append(events, line)
		}
	}
	for id, n := range asked {
		if n > 1 {
			c.fail("TWICE: %d answers to %s", n, id)
		}
	}
	if hooks > len(t.messages) {
		c.fail("TWICE: %d hooks were called for %d messages", hooks, len(t.messages))
	}
	runs := c.toolRuns()
	if len(runs) == 0 {
		return
	}
	last := runs[len(runs)-1]
	for i, text := range last.Later {
		if i+1 >= len(t.messages) || text != t.messages[i+1] {
			c.fail("LOST: message %d is not the caller's", i+1)
		}
	}
	whole := c.State.Success() && c.Script.Ending == player.Well && !c.hit && t.leaves == "" &&
		c.Blow.Who == ""
	if whole && len(last.Later) != len(t.messages)-1 {
		c.fail("LOST: %d of %d messages arrived", len(last.Later)+1, len(t.messages))
	}
	var want string
	for i := range t.messages {
		s := c.Script.Turn(i)
		if last.Refused || s.Ending == player.Early {
			break
		}
		want += player.Show("claude", "stream-json", s, last, i+1).Stdout
		if s.Ending.Stops() {
			break
		}
	}
	c.compare("what a caller sees", []byte(strings.Join(events, "")), want, whole)
}
