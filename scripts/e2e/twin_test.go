package e2e

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/standin"
)

const unknownID = "11111111-2222-4333-8444-555555555555"

// twins are calls that must look the same to the caller and to the model whether
// the shim is there or not.
var twins = map[string]call{
	"text":                     {args: list("-p|hi remember number 456")},
	"json":                     {args: list("-p|hi remember number 456|--output-format|json")},
	"json, verbose":            {args: list("-p|hi remember number 456|--output-format|json|--verbose")},
	"stream-json":              {args: list("-p|hi remember number 456|--output-format|stream-json|--verbose")},
	"stream-json, not verbose": {args: list("-p|hi|--output-format|stream-json")},
	"partial messages":         {args: list("-p|hi|--output-format|stream-json|--verbose|--include-partial-messages")},
	"partial messages as text": {args: list("-p|hi|--include-partial-messages")},
	"hook events as text":      {args: list("-p|hi|--include-hook-events")},
	"several lines, text":      {args: list("-p|MULTI")},
	"several lines, json":      {args: list("-p|MULTI|--output-format|json")},
	"several lines, verbose":   {args: list("-p|MULTI|--output-format|json|--verbose")},
	"empty result, text":       {args: list("-p|EMPTY")},
	"empty result, json":       {args: list("-p|EMPTY|--output-format|json")},
	"tool use, text":           {args: list("-p|RUNTOOL please")},
	"tool use, verbose":        {args: list("-p|RUNTOOL please|--output-format|json|--verbose")},
	"max turns, text":          {args: list("-p|RUNTOOL please|--max-turns|1")},
	"max turns, json":          {args: list("-p|RUNTOOL please|--max-turns|1|--output-format|json")},
	"budget, text":             {args: list("-p|RUNTOOL please|--max-budget-usd|0.0001")},
	"401, text":                {args: list("-p|HTTP401")},
	"401, json":                {args: list("-p|HTTP401|--output-format|json")},
	"429, text":                {args: list("-p|HTTP429")},
	"429, json":                {args: list("-p|HTTP429|--output-format|json")},
	"500, text":                {args: list("-p|HTTP500")},
	"500, json":                {args: list("-p|HTTP500|--output-format|json")},
	"overflow, text":           {args: list("-p|TOOBIG")},
	"broken transcript, text":  {args: list("-p|BADTOOL")},
	"unknown flag":             {args: list("-p|hi|--no-such-flag")},
	"bad format":               {args: list("-p|hi|--output-format|xml")},
	"unknown session, text":    {args: list("-p|hi|--resume|" + unknownID)},
	"unknown session, json":    {args: list("-p|hi|--resume|" + unknownID + "|--output-format|json")},
	"unknown session, stream":  {args: list("-p|hi|--resume|" + unknownID + "|--output-format|stream-json|--verbose")},
	"chosen session":           {args: list("-p|hi|--session-id|" + unknownID + "|--output-format|json")},
	"stdin only":               {args: list("-p"), stdin: "hi remember number 9\n"},
	"stdin without -p":         {stdin: "hi remember number 9\n"},
	"stdin only, json":         {args: list("-p|--output-format|json"), stdin: "hi remember number 9\n"},
	"stdin and argument":       {args: list("-p|look here"), stdin: "hi remember number 9\n"},
	"no prompt":                {args: list("-p")},
	"tools behind the prompt":  {args: list("-p|hi|--allowedTools|Bash|Edit")},
	"tools before the prompt":  {args: list("-p|--allowedTools|Bash|Edit|hi")},
	"tools, then --":           {args: list("-p|--allowedTools|Bash|Edit|--|hi")},
	"system prompt":            {args: list("-p|hi|--append-system-prompt|Be brief.")},
	"no session kept":          {args: list("-p|hi|--no-session-persistence")},
	"slash command":            {args: list("-p|/cost")},
	"two prompts":              {args: list("-p|hi|there")},
	"nested":                   {args: list("-p|hi"), env: []string{"CLAUDECODE=1"}},
	"long prompt":              {args: []string{"-p", strings.Repeat("All work and no play. ", 4600)}},
	"5 MB answer":              {args: list("-p|BIG5MB")},
	"mcp list":                 {args: list("mcp|list")},
	"version":                  {args: list("--version")},
	"help":                     {args: list("--help")},
}

func list(words string) []string { return strings.Split(words, "|") }

func TestTwins(t *testing.T) { checkTwins(t, "claude", twins) }

func checkTwins(t *testing.T, tool string, twins map[string]call) {
	for name, c := range twins {
		t.Run(name, func(t *testing.T) {
			direct, shimmed := newWorld(t, tool, false), newWorld(t, tool, true)
			a, b := direct.run(tool, c), shimmed.run(tool, c)
			if a.exit != b.exit {
				t.Errorf("exit %d, with the shim %d", a.exit, b.exit)
			}
			same(t, "stdout", direct.mask(a.stdout), shimmed.mask(b.stdout))
			same(t, "stderr", direct.mask(a.stderr), shimmed.mask(b.stderr))
			if len(a.asked) != len(b.asked) {
				t.Fatalf("asked the model %d times, with the shim %d", len(a.asked), len(b.asked))
			}
			for i := range a.asked {
				same(t, "request", direct.mask(body(t, a.asked[i])), shimmed.mask(body(t, b.asked[i])))
			}
		})
	}
}

func body(t *testing.T, r standin.Request) string {
	t.Helper()
	text, err := json.MarshalIndent(r.Body, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// masks are what differs between two runs of the same call, shim or not: ids,
// times, and what follows from the length of a folder's name.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`"user_id": "[^\n]*"`), `"user_id": "ID"`},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`), "TIME"},
	{regexp.MustCompile(`((duration|ttft|time_to|first_content)[a-z_]*":)\d+`), "${1}0"},
	{regexp.MustCompile(`(msg|toolu|req)_[0-9a-zA-Z]+`), "$1"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "MODEL"},
	{regexp.MustCompile(`(Total duration \([a-z]+\)|wall\)):\s+[\d.smh]+`), "$1: T"},
	{regexp.MustCompile(`cc-socks/\d+`), "cc-socks/PID"},
	{regexp.MustCompile(`(started_at_unix_ms\\":)\d+`), "${1}0"},
	{regexp.MustCompile(`\\"workspaces\\":\{.*?\}\},`), ""}, // codex 0.169.0 has it only if git was quick
	{regexp.MustCompile(`(succeeded in )\d+ms`), "${1}0ms"},
	{regexp.MustCompile(`(Chunk ID: )[0-9a-f]+`), "${1}ID"},
	{regexp.MustCompile(`cch=[0-9a-f]+`), "cch"},
}

func (w *world) mask(text string) string {
	text = strings.ReplaceAll(text, w.root, "ROOT")
	text = strings.ReplaceAll(text, dashed(w.root), "ROOT")
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}

// dashed is a path as claude makes a folder's name of it.
func dashed(path string) string {
	return regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(path, "-")
}

func same(t *testing.T, what, direct, shimmed string) {
	t.Helper()
	if direct == shimmed {
		return
	}
	a, b := strings.Split(direct, "\n"), strings.Split(shimmed, "\n")
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	at := func(lines []string) string {
		return strings.Join(slices.Concat(lines[min(i, len(lines)):min(i+2, len(lines))]), "\n")
	}
	t.Errorf("%s differs from line %d on:\n- %.1500s\n+ %.1500s", what, i+1, at(a), at(b))
}
