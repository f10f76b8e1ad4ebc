package demo

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"reprise/rewrite"
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
	prompt  string
	file    string // the session's file
	history []entry
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

// newBundledTool reads the session to resume, or begins one.
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
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find working directory: %w", err)
	}
	t := &bundledTool{prompt: f.Arg(0), file: filepath.Join(os.Getenv("HOME"), ".claude",
		"projects", rewrite.Dashed(cwd), cmp.Or(*resume, *id, shim.OSEnv().NewID())+".jsonl")}
	if *resume == "" {
		return t, nil
	}
	text, err := os.ReadFile(t.file)
	if err != nil { // with Claude Code's message
		return nil, errors.New("No conversation found with session ID: " + *resume)
	}
	for line := range bytes.Lines(text) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read session: %w", err)
		}
		t.history = append(t.history, e)
	}
	return t, nil
}

func (t *bundledTool) add(e entry) {
	e.Type, e.Time = e.Message.Role, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	t.history = append(t.history, e)
}

// ask sends the prompt, runs the commands that the model requests, and returns the answer.
func (t *bundledTool) ask() (string, error) {
	said := []part{{"type": "text", "text": t.prompt}}
	for {
		var asked, reply entry
		asked.Message.message = message{"user", said}
		t.add(asked)
		if err := t.request(&reply.Message); err != nil {
			return "", err
		}
		t.add(reply)
		said = nil
		text := ""
		for _, p := range reply.Message.Content {
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

// request sends the messages, with a breakpoint of the provider's cache at the end.
func (t *bundledTool) request(reply any) error {
	messages := make([]message, len(t.history))
	for i, e := range t.history {
		messages[i] = e.Message.message
	}
	body, err := json.Marshal(map[string]any{
		"model": cmp.Or(os.Getenv("ANTHROPIC_MODEL"), "stand-in"), "messages": messages,
		"cache_control": map[string]string{"type": "ephemeral",
			"ttl": cmp.Or(os.Getenv("CLAUDE_CODE_PROMPT_CACHE_TTL"), "5m")}}) // claude's default
	if err != nil {
		return fmt.Errorf("ask the model: %w", err)
	}
	response, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json",
		bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the model: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New("the model says " + response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(reply); err != nil {
		return fmt.Errorf("read the model's reply: %w", err)
	}
	return nil
}

// save writes the session's file.
func (t *bundledTool) save() error {
	var text bytes.Buffer
	for _, e := range t.history {
		if err := json.NewEncoder(&text).Encode(e); err != nil {
			return fmt.Errorf("save session: %w", err)
		}
	}
	if err := cmp.Or(os.MkdirAll(filepath.Dir(t.file), 0o700),
		os.WriteFile(t.file, text.Bytes(), 0o600)); err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	return nil
}
