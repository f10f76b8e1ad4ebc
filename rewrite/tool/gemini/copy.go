package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reprise/rewrite/jsonline"
)

// gemini 0.61.0 has no option that copies a session under an ID of the caller's choice, so the shim
// writes the copy. A session's file is a journal. The final state is written as gemini writes a
// session that it imports (--session-file): a line of metadata, and a line for each message.
//
// A tool's result is in the file twice: with its call, in toolCalls[].result of the model's
// message, and in the user's message that took it to the model. A resume sends both. The copy keeps
// the second alone, which the model was sent, and only if it has every part of the first; so each
// result is still there once.

// A storedSession is the final state of a session's file.
type storedSession struct {
	metadata object
	messages []object
}

type object map[string]json.RawMessage

// text returns the text of a field, "" if it is none.
func (o object) text(field string) string { return jsonline.String(string(o[field])) }

var errRecord = errors.New("a record of an unexpected shape")

// CopySession leaves out the entries that gemini makes anew, and begins the session at the time of
// the copy: callers ask for the latest session by that. The file is named after the minute, as
// gemini names a new one: a resume in the same minute then leaves no second file
// (docs/internals/gemini.md).
func (gemini) CopySession(from, to, at string, file []byte) (name string, copied []byte,
	err error) {
	s := storedSession{metadata: object{}}
	for line := range bytes.Lines(file) {
		if err := s.read(line); err != nil {
			return "", nil, err
		}
	}
	if id := s.metadata.text("sessionId"); id != from {
		return "", nil, fmt.Errorf("the file is session %q", id)
	}
	if s.metadata.text("projectHash") == "" || s.metadata.text("kind") == "subagent" ||
		len(s.messages) == 0 {
		return "", nil, errRecord
	}
	delete(s.metadata, "memoryScratchpad")
	for key, value := range map[string]string{"sessionId": to, "startTime": at, "lastUpdated": at} {
		s.metadata[key], _ = json.Marshal(value) // a string can always be written
	}
	copied = encoded(s.metadata)
	for i, m := range s.messages {
		if m.text("type") == "gemini" {
			m.dropResults(s.answersTo(i))
		}
		// readers of sessions would count them once more; gemini reads them only to show them
		delete(m, "tokens")
		copied = append(copied, encoded(m)...)
	}
	name = "session-" + strings.ReplaceAll(at[:len("2006-01-02T15:04")], ":", "-") + "-" + to[:8] +
		".jsonl"
	return name, copied, nil
}

// read applies a line as gemini does. A line that gemini would skip is an error here: the copy must
// not lack it.
func (s *storedSession) read(line []byte) error {
	var record, set object
	if err := json.Unmarshal(line, &record); err != nil || record == nil {
		return errRecord
	}
	switch {
	case record["$rewindTo"] != nil:
		// it removes a message and all later ones; all messages if there is none of that ID
		s.messages = s.messages[:max(s.index(record.text("$rewindTo")), 0)]
		return nil
	case record["id"] != nil:
		return s.add(record)
	case record["$set"] != nil:
		if err := json.Unmarshal(record["$set"], &set); err != nil {
			return errRecord
		}
		return s.set(set)
	case record["sessionId"] != nil && record["projectHash"] != nil:
		return s.set(record)
	}
	return errRecord
}

// set replaces metadata, and the messages if there are any.
func (s *storedSession) set(fields object) error {
	for key, value := range fields {
		if key != "messages" {
			s.metadata[key] = value
		}
	}
	if fields["messages"] == nil {
		return nil
	}
	var messages []object
	if err := json.Unmarshal(fields["messages"], &messages); err != nil {
		return errRecord
	}
	s.messages = nil
	for _, m := range messages {
		if err := s.add(m); err != nil {
			return err
		}
	}
	return nil
}

// add adds a message, or replaces the one with its ID.
func (s *storedSession) add(m object) error {
	if m.text("id") == "" || !slices.Contains([]string{"user", "gemini", "info", "error",
		"warning"}, m.text("type")) {
		return errRecord
	}
	if i := s.index(m.text("id")); i >= 0 {
		s.messages[i] = m
	} else {
		s.messages = append(s.messages, m)
	}
	return nil
}

func (s *storedSession) index(id string) int {
	return slices.IndexFunc(s.messages, func(m object) bool { return m.text("id") == id })
}

// answersTo returns the parts of the user's messages between one of the model and the next.
func (s *storedSession) answersTo(i int) (parts []string) {
	for _, m := range s.messages[i+1:] {
		switch m.text("type") {
		case "gemini":
			return parts
		case "user":
			parts = append(parts, compactParts(m["content"])...)
		}
	}
	return parts
}

// dropResults removes the result of each call after all parts have been sent.
func (o object) dropResults(sent []string) {
	var calls []object
	if json.Unmarshal(o["toolCalls"], &calls) != nil {
		return
	}
	dropped := false
	for _, call := range calls {
		parts := compactParts(call["result"])
		if len(parts) > 0 && !slices.ContainsFunc(parts, func(p string) bool {
			return !slices.Contains(sent, p)
		}) {
			delete(call, "result")
			dropped = true
		}
	}
	if dropped {
		o["toolCalls"] = encoded(calls)
	}
}

// encoded returns a line of JSON as gemini writes it, of values that came from JSON.
func encoded(value any) []byte {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	_ = e.Encode(value)
	return line.Bytes()
}

// compactParts returns the elements of a JSON array, each without the spaces; none if it is no
// array.
func compactParts(array json.RawMessage) (parts []string) {
	var all []json.RawMessage
	if json.Unmarshal(array, &all) != nil {
		return nil
	}
	for _, part := range all {
		parts = append(parts, jsonline.Compact(string(part)))
	}
	return parts
}
