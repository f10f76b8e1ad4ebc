package gemini

import (
	"cmp"
	"encoding/json"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
)

// text shows a run's text as it comes. The run's facts are read from the session's file, which the
// ID in the command line names.
type text struct {
	base.Stream
	last    record // the newest answer since the prompt; no ID if there is none
	asked   bool   // the prompt is in the file
	foreign bool   // something is another session's or process's, such as a second prompt
}

// A record is a line of a session's file. An answer that calls tools is written a second time, with
// its calls, when they have ended (recordings/gemini/chat-tool).
type record struct {
	ID, Type  string
	SessionID string `json:"sessionId"`
	Set       struct {
		SessionID string `json:"sessionId"`
	} `json:"$set"`
	Content json.RawMessage
	Tokens  *struct{ Input, Cached, Total int64 }
	Model   string
	Calls   []struct{ Args json.RawMessage } `json:"toolCalls"`
}

func (s *text) Line(piece []byte) []byte {
	s.Text.Keep(piece)
	s.open(len(piece) > 0)
	return piece
}

// open lets a resumed run's output through when the model has answered under the ID. gemini writes
// the prompt to the session's file before it asks the model, and text to stdout before the answer's
// record.
func (s *text) open(answered bool) {
	s.State.Content = s.State.Content || s.asked && s.State.ID != "" && answered
}

func (s *text) File(_ string, line []byte) {
	var r record
	ok, whole := jsonline.ReadEvent(line, &r)
	switch id := cmp.Or(r.SessionID, r.Set.SessionID); {
	case !ok:
	case id == "":
	case id == s.Plan.ID():
		s.State.ID, s.State.Source = id, "file"
	default: // two sessions of one minute with IDs that begin alike share a file
		s.foreign = true
	}
	switch r.Type {
	case "user":
		s.State.Malformed = s.State.Malformed || !whole
		s.learnPrompt(r.Content)
	case "gemini":
		s.State.Malformed, s.foreign = s.State.Malformed || !whole, s.foreign || !s.asked
		s.learnAnswer(&r)
	}
	s.open(s.last.ID != "" || s.Text.Len() > 0 || s.Text.TooLong)
	s.State.Final = s.answer() != "" && len(s.last.Calls) == 0
	s.State.Failed = s.State.Malformed || s.foreign
}

// learnPrompt reads a message of the user: the prompt, or the results of tools.
func (s *text) learnPrompt(content json.RawMessage) {
	var parts []struct {
		Text     string
		Response json.RawMessage `json:"functionResponse"`
	}
	_, whole := jsonline.ReadEvent(content, &parts)
	s.last = record{}
	if len(parts) > 0 && parts[0].Response != nil {
		return
	}
	s.State.Malformed, s.foreign = s.State.Malformed || !whole, s.foreign || s.asked
	s.asked = true
	if len(parts) > 0 && forgets(parts[0].Text) { // a hook has prepended the output
		s.State.Refusal = reason.RefusedBroken
	}
}

func (s *text) learnAnswer(r *record) {
	again := r.ID == s.last.ID
	s.last = *r
	s.State.Model = r.Model
	for _, call := range r.Calls {
		s.State.AddTool(call.Args)
	}
	if again {
		return
	}
	if text := s.answer(); text != "" {
		s.State.AddText(text)
	}
	if t := r.Tokens; t != nil {
		s.State.ContextUse.Used = t.Total
		// thoughts included
		s.AddUsage(rewrite.Usage{Input: t.Input - t.Cached, CacheRead: t.Cached,
			Output: t.Total - t.Input})
	}
}

// answer returns the text of the newest answer. Text mode prints it without the escape sequences.
func (s *text) answer() string { return base.StripEscapes(jsonline.String(string(s.last.Content))) }
