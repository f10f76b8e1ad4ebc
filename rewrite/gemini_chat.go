package rewrite

import (
	"cmp"
	"encoding/json"

	"reprise/rewrite/reason"
)

// geminiText shows a run's text as it comes. What the run was is read from the session's file, of which the
// command line gives the ID.
type geminiText struct {
	shownText
	last      geminiRecord // the newest answer since the prompt; no ID if there is none
	asked     bool         // the prompt is in the file
	malformed bool         // a record had an unexpected shape, or is not of this run
}

// A geminiRecord is a line of a session's file. An answer that calls tools is written a second time, with its
// calls, when they have ended (recordings/gemini/chat-tool).
type geminiRecord struct {
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

// followGemini names the file of a session. Its directory is named after the project, and its beginning after
// the minute in which it began.
func followGemini(home, id string) Follow {
	return Follow{Dir: home + "/tmp", Name: "session-*-" + id[:min(8, len(id))] + ".jsonl", Lines: true}
}

// Line implements Stream.
func (s *geminiText) Line(piece []byte) []byte {
	s.keep(piece)
	s.open(len(piece) > 0)
	return piece
}

// open lets a resumed run's output through when the model has answered under its ID. gemini writes the prompt to
// the session's file before it asks the model, and text to stdout before the answer's record.
func (s *geminiText) open(answered bool) {
	s.seen.Content = s.seen.Content || s.asked && s.seen.ID != "" && answered
}

// File implements Stream.
func (s *geminiText) File(_ string, line []byte) {
	var r geminiRecord
	ok, whole := readEvent(line, &r)
	switch id := cmp.Or(r.SessionID, r.Set.SessionID); {
	case !ok:
	case id == "":
	case id == s.plan.ID():
		s.seen.ID, s.seen.Source = id, "file"
	default: // two sessions of one minute whose IDs begin alike share a file
		s.malformed = true
	}
	switch r.Type {
	case "user":
		s.malformed = s.malformed || !whole
		s.learnPrompt(r.Content)
	case "gemini":
		s.malformed = s.malformed || !whole || !s.asked
		s.learnAnswer(&r)
	}
	s.open(s.last.ID != "" || len(s.text) > 0 || s.tooLong)
	s.seen.Final = s.answer() != "" && len(s.last.Calls) == 0
	s.seen.Failed = s.malformed
}

// learnPrompt reads a message of the user: the prompt, or the results of tools.
func (s *geminiText) learnPrompt(content json.RawMessage) {
	var parts []struct {
		Text     string
		Response json.RawMessage `json:"functionResponse"`
	}
	_, whole := readEvent(content, &parts)
	s.last = geminiRecord{}
	if len(parts) > 0 && parts[0].Response != nil {
		return
	}
	s.malformed = s.malformed || !whole || s.asked // a second prompt is another process's
	s.asked = true
	if len(parts) > 0 && geminiForgets(parts[0].Text) { // a hook has prepended its output
		s.seen.Refusal = reason.RefusedBroken
	}
}

func (s *geminiText) learnAnswer(r *geminiRecord) {
	again := r.ID == s.last.ID
	s.last = *r
	s.seen.Model = r.Model
	for _, call := range r.Calls {
		s.seen.ToolRan = true
		s.seen.addFiles(call.Args)
	}
	if again {
		return
	}
	if text := s.answer(); text != "" {
		s.seen.addText(text)
	}
	if t := r.Tokens; t != nil {
		s.seen.ContextUse.Used = t.Total
		s.addUsage(Usage{Input: t.Input - t.Cached, CacheRead: t.Cached, Output: t.Total - t.Input}) // thoughts included
	}
}

// answer returns the text of the newest answer. Text mode prints it without its escape sequences.
func (s *geminiText) answer() string {
	var text string
	_ = json.Unmarshal(s.last.Content, &text) // content of another shape is no answer
	return stripEscapes(text)
}

// End implements Stream.
func (s *geminiText) End() []byte {
	return s.endText()
}
