package history

import (
	"bytes"
	"strings"
	"time"
)

func init() { places = append(places, place{tool: "droid", line: droidLine}) }

// droidLine reads a line of a session of droid 0.225.2. Its tokens are in another file.
func droidLine(f *File, line []byte) {
	if bytes.HasPrefix(line, []byte(`{"type":"message","id":"context-`)) {
		return // what droid itself puts before the first prompt
	}
	var l struct {
		Type      string
		ID        string
		Cwd       string
		Timestamp time.Time
		Message   struct {
			Role    string
			Model   string `json:"modelId"`
			Content []struct{ Type string }
		}
	}
	if !decode(line, &l) {
		return
	}
	s := &f.Session
	s.at(l.Timestamp)
	switch {
	case l.Type == "session_start":
		s.ID, s.Cwd = l.ID, l.Cwd
	case l.Type != "message":
	case l.Message.Role == "assistant":
		s.Model = strings.TrimPrefix(l.Message.Model, "custom:")
	case len(l.Message.Content) > 0 && l.Message.Content[0].Type != "tool_result":
		s.Turns++
	}
}
