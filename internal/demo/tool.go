package demo

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"reprise/rewrite/tool/base"
	"reprise/shim"
)

// Bundled is the tool that BundledTool replaces.
const Bundled = "claude"

// BundledTool is a small agent that replaces Claude Code if no real CLI is installed: the options
// of a headless call, sessions in files, one tool that runs shell commands. It uses the model at
// ANTHROPIC_BASE_URL.
func BundledTool(args []string, stdout io.Writer) error {
	if len(args) > 0 && args[0] == "--help" {
		_, err := io.WriteString(stdout, bundledHelp)
		return err
	}
	t, err := newBundledTool(args)
	if err != nil {
		return err
	}
	answer, err := t.ask()
	if err != nil {
		return err
	}
	if err := t.save(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, answer)
	return err
}

const bundledHelp = `Usage: claude [options] [prompt]

  -p, --print             print the answer and exit
  --allowedTools <tools>  taken, and not looked at
  --model <model>         taken, and not looked at
  -r, --resume [id]       go on with a session
  --session-id <id>       begin a session under this ID
`

type bundledTool struct {
	id      string
	resumed bool
	prompt  string
	file    string // the session's file
	history []message
	kept    int                // messages that the session's file has
	asked   []base.ClaudeUsage // of the run's requests
}

// An entry is a line of a session's file.
type entry struct {
	Type    string `json:"type"`
	Time    string `json:"timestamp"`
	Message struct {
		message
		ID    string            `json:"id,omitempty"`
		Model string            `json:"model,omitempty"`
		Usage *base.ClaudeUsage `json:"usage,omitempty"`
	} `json:"message"`
}

type message struct {
	Role    string `json:"role"`
	Content []part `json:"content"`
}

type part = map[string]any

func newBundledTool(args []string) (*bundledTool, error) {
	f := flag.NewFlagSet(Bundled, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Bool("p", false, "")
	f.String("allowedTools", "", "")
	f.String("model", "", "")
	resume, id := f.String("resume", "", ""), f.String("session-id", "", "")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	t := &bundledTool{id: cmp.Or(*resume, *id), resumed: *resume != "", prompt: f.Arg(0)}
	return t, t.open()
}

// unknownSession is Claude Code's message about an unknown session.
const unknownSession = "No conversation found with session ID: "

// open reads the session to resume, or begins one.
func (t *bundledTool) open() error {
	if t.id == "" {
		t.id = shim.OSEnv().NewID()
	}
	cwd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find working directory: %w", err)
	}
	t.file = filepath.Join(os.Getenv("HOME"), ".claude", "projects", base.Dashed(cwd),
		t.id+".jsonl")
	if !t.resumed {
		return nil
	}
	text, err := os.ReadFile(t.file)
	if err != nil {
		return errors.New(unknownSession + t.id)
	}
	for line := range bytes.Lines(text) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("read session: %w", err)
		}
		t.history = append(t.history, e.Message.message)
	}
	t.kept = len(t.history)
	return nil
}

func bundledModel() string { return cmp.Or(os.Getenv("ANTHROPIC_MODEL"), "stand-in") }

// ask sends the prompt, runs the commands that the model requests, and returns the answer.
func (t *bundledTool) ask() (string, error) {
	said := []part{{"type": "text", "text": t.prompt}}
	for {
		t.history = append(t.history, message{"user", said})
		reply, err := t.request()
		if err != nil {
			return "", err
		}
		t.history, said = append(t.history, reply), nil
		text := ""
		for _, p := range reply.Content {
			switch p["type"] {
			case "text":
				text, _ = p["text"].(string)
			case "tool_use":
				input, _ := p["input"].(part)
				command, _ := input["command"].(string)
				out, _ := exec.Command("sh", "-c", command).CombinedOutput()
				said = append(said, part{"type": "tool_result", "tool_use_id": p["id"],
					"content": []part{{"type": "text", "text": string(out)}}})
			}
		}
		if said == nil {
			return text, nil
		}
	}
}

func (t *bundledTool) request() (m message, err error) {
	body, err := json.Marshal(map[string]any{"model": bundledModel(),
		"messages": marked(t.history)})
	if err != nil {
		return m, fmt.Errorf("ask the model: %w", err)
	}
	response, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json",
		bytes.NewReader(body))
	if err != nil {
		return m, fmt.Errorf("ask the model: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return m, errors.New("the model says " + response.Status)
	}
	var reply struct {
		message
		Usage base.ClaudeUsage `json:"usage"`
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		return m, fmt.Errorf("read the model's reply: %w", err)
	}
	t.asked = append(t.asked, reply.Usage)
	return reply.message, nil
}

// marked returns the messages with a breakpoint of the provider's cache at the end of the last, as
// claude's are.
func marked(history []message) []message {
	history = slices.Clone(history)
	last := &history[len(history)-1]
	last.Content = slices.Clone(last.Content)
	end := maps.Clone(last.Content[len(last.Content)-1])
	end["cache_control"] = map[string]string{"type": "ephemeral",
		"ttl": cmp.Or(os.Getenv("CLAUDE_CODE_PROMPT_CACHE_TTL"), "5m")} // claude's default
	last.Content[len(last.Content)-1] = end
	return history
}

// save adds the run's messages to the session's file.
func (t *bundledTool) save() error {
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	file, err := os.OpenFile(t.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	for i, m := range t.history[t.kept:] {
		e := entry{Type: m.Role, Time: time.Now().UTC().Format("2006-01-02T15:04:05.000Z")}
		e.Message.message = m
		if m.Role == "assistant" {
			e.Message.ID, e.Message.Model, e.Message.Usage = fmt.Sprintf("msg_%d", t.kept+i),
				bundledModel(), &t.asked[0]
			t.asked = t.asked[1:]
		}
		err = errors.Join(err, json.NewEncoder(file).Encode(e))
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	return nil
}
