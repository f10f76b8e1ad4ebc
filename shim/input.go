package shim

import (
	"strings"
	"syscall"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/supervise"
)

// An input is the caller's stdin, with the part that was read: for a run, and for the real binary.
type input struct {
	supervise.Source
	talk *supervise.Conversation // nil unless stdin is a conversation
}

// waits reports whether stdin is a conversation where the caller waits for an answer before the
// first message.
func (in *input) waits() bool { return in.talk != nil && in.talk.Waits }

// mostOpened is more than the number of descriptors that are opened once stdin is being read.
// Without them the tool could not be started, and stdin could not be handed on.
const mostOpened = 20

// readPrompt reads stdin and composes the prompt as the tool does. It returns the command line with
// the facts that stdin adds.
func (f *found) readPrompt() (line rewrite.CommandLine, text string, err error) {
	line = f.line
	if line.Stdin != rewrite.StdinUnused && f.input.talk == nil && !spare(mostOpened) {
		return line, "", f.fault("read stdin", syscall.EMFILE)
	}
	if line.Stdin == rewrite.StdinFrames {
		return f.readOpening()
	}
	staged, err := supervise.Stage(f.env.Stdin, line.Stdin, f.tool.Descriptor().AwaitsStdin,
		f.preview)
	f.input.Source, line.Silent = staged, staged.Silent
	if err != nil {
		return line, "", f.fault("read stdin", err)
	}
	text = f.tool.EffectivePrompt(line, staged.Data)
	if strings.TrimSpace(text) == "" {
		return line, "", reason.BadUsage
	}
	if line.Stdin == rewrite.StdinPrompt && prompt.IsSlashCommand(text) {
		return line, "", reason.SlashCommand
	}
	return line, text, nil
}

// readOpening reads a conversation up to the first message, which is the prompt, unless that was
// read.
func (f *found) readOpening() (line rewrite.CommandLine, text string, err error) {
	if in := f.input; in.talk == nil {
		in.talk = supervise.NewConversation(f.env.Stdin)
		in.Source = in.talk
		if err := in.talk.Open(); err != nil {
			return f.line, "", err
		}
	}
	return f.line.Opened(f.input.talk.Opening())
}
