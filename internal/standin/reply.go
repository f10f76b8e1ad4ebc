package standin

import "time"

// A Reply is how the stand-in answers one request.
type Reply struct {
	Text    string        // the model's text
	Command string        // a shell command that the model requests instead, "" for none
	Instead Answer        // sent instead of a model's answer, if it has a status
	Pause   time.Duration // the text comes in about ten pieces, this far apart
	Hang    bool          // nothing comes after the first piece
}

// An Answer is sent as it is, as an API's error.
type Answer struct {
	Status int
	Stream bool // of events
	Body   string
}

// beforeTool is the model's text before it requests a tool, as models write.
const beforeTool = "Let me run it."
