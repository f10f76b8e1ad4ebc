package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/test/toolbox"
)

// grown turns the fake claude into a tool that keeps its prompts, sends all of the history with
// each request, and adds up a session's figures. The model's input is in $FAKE/N.seen.
var grown = strings.NewReplacer(
	`answer="answer $n"`, "answer=Done.",
	`if [ -e "$FAKE/remember" ] &&`, "if",
	"* 5 + 5))", "+ 1))\ncost=$tokens",
	`entry user 1 "$prompt"`, `entry user 1 "$prompt"
cp "$file" "$FAKE/$n.seen"
asked=$((3000 + $(wc -c <"$file") / 4))`,
	`"usage":{"input_tokens":5}`, `"usage":{"input_tokens":'$asked',"output_tokens":7}`,
	`"modelUsage":{"m":{"inputTokens":'$tokens',"contextWindow":1000}}`,
	`"usage":{"input_tokens":'$asked',"output_tokens":7},"modelUsage":{"m":{"inputTokens":'$((cost * asked))',"outputTokens":'$((cost * 7))',"costUSD":'$cost'}}'"$since"'`,
	`{"inputTokens":%s}}}\n' "$cost" $tokens`,
	`{"inputTokens":%s,"outputTokens":%s,"costUSD":%s}}}\n' "$cost" $((cost * asked)) $((cost * 7)) "$cost"`,
	"exit=1\ncase $mode", `since=; [ "$format" != stream-json ] || since=',"model_usage_since_last_result":{"m":{"inputTokens":'$asked',"outputTokens":7,"costUSD":1}}'
exit=1
case $mode`,
)

// start is where the command line has been read, and nothing done yet.
const start = "id=${chosen:-"

// copied is where a copy of a session is made.
const copied = `if [ -n "$fork" ] && [ -z "$at" ]; then
	cat "$dir/$resume.jsonl" >"$file"`

// plantedClaudes are later versions of claude that have changed in one way. However that affects
// resuming, a call ends as it does without the shim.
var plantedClaudes = []struct {
	name    string
	pairs   []string // replaced in the fake's text
	resumes string   // the formats in which the third round is still resumed
}{
	{"nothing", nil, "text json stream-json"},
	{"a session ID needs another flag", []string{start, `[ -z "$chosen" ] || { echo "error: --session-id needs --allow-session-id" >&2; exit 1; }
` + start}, "stream-json"},
	{"a session ID is refused with status 0", []string{start, `[ -z "$chosen" ] || { echo "error: --session-id needs --allow-session-id" >&2; exit 0; }
` + start}, "stream-json"},
	{"no session ID beside a fork", []string{start, `[ -z "$chosen" ] || [ -z "$fork" ] || { echo "error: not both" >&2; exit 1; }
` + start}, "stream-json"},
	{"a resume forgets", []string{start, "resume= fork=\n" + start}, ""},
	{"a resume beside a fork forgets",
		[]string{start, "[ -z \"$fork\" ] || resume= fork=\n" + start}, ""},
	{"a fork works in its source", []string{start,
		`[ -z "$fork" ] || { fork=; chosen=; id=$resume; }` + "\n" + start}, ""},
	{"another ID", []string{"rest=$(pwd -P)",
		`[ -z "$resume" ] || id=99999999-0000-4000-8000-000000000000` + "\nrest=$(pwd -P)"}, ""},
	{"a result event with another name", []string{`"type":"result"}`, `"type":"outcome"}`}, "text"},
	{"a session ID with another name", []string{`"session_id"`, `"conversation_id"`}, "text json"},
	{"a session ID that is an object",
		[]string{`"session_id":"'$id'"`, `"session_id":{"value":"'$id'"}`}, "text"},
	{"sessions in another place", []string{"/projects/", "/sessions/"}, ""},
	{"json over several lines", []string{`*) echo "$result" ;;`, `json-*) printf '%s' "$result" | sed 's/,"/,\n  "/g'; echo ;;
*) echo "$result" ;;`}, "text stream-json"},
	{"figures by call", []string{"cost=$tokens", "cost=1", "since=; [", "since=; : ["},
		"text json stream-json"},
	{"no result", []string{`*) echo "$result" ;;`, `json-*) echo "$result" ;;`}, "text json"},
	{"times with another name", []string{`"timestamp":`, `"at":`}, "json stream-json"},
	{"tokens with another name", []string{`"usage":{"input_tokens"`, `"usage":{"prompt_tokens"`},
		"text json stream-json"},
	{"messages with another name", []string{`"type":"assistant"`, `"type":"message"`},
		"text json stream-json"},
	{"IDs in capitals", []string{"rest=$(pwd -P)",
		"id=$(echo $id | tr a-f A-F)\nrest=$(pwd -P)"}, "text json stream-json"},
	{"a notice before the answer", []string{"exit=1\ncase $mode",
		"echo Note: sessions are kept for 30 days.\nexit=1\ncase $mode"}, "text json stream-json"},
	{"a result twice", []string{`*) echo "$result" ;;`,
		`*) echo "$result"; echo "$result" ;;`}, "text json stream-json"},
	{"an answer on stderr too", []string{"exit=1\ncase $mode",
		"echo $answer >&2\nexit=1\ncase $mode"}, "text json stream-json"},
	{"no init", []string{`echo "$init"`, ":"}, "text json stream-json"},
	{"a resume is refused on stdout", []string{start,
		`[ -z "$resume" ] || { echo "No conversation found"; exit 0; }` + "\n" + start}, ""},
	{"a resume crashes", []string{start, `[ -z "$resume" ] || kill -SEGV $$` + "\n" + start}, ""},
	{"a resume says nothing", []string{start, `[ -z "$resume" ] || exit 0` + "\n" + start}, ""},
	{"a chosen ID is not kept", []string{start, "chosen=\n" + start}, "text json stream-json"},
	{"the answer has another name", []string{`"result":"'$answer'"`, `"answer":"'$answer'"`},
		"text json stream-json"},
	{"another exit status", []string{"\texit=0\n", "\texit=3\n"}, ""},
	{"all output on stderr", []string{start, "exec >&2\n" + start}, ""},
	{"no tokens", []string{`,"usage":{"input_tokens":'$asked',"output_tokens":7}`, ""},
		"text json stream-json"},
	{"an ID below another member", []string{`,"session_id":"'$id'","type":"result"}`,
		`,"session":{"id":"'$id'"},"type":"result"}`}, "text json stream-json"},
	{"sessions of another ending", []string{".jsonl", ".json"}, ""},
	{"no fork", []string{start, `[ -z "$fork" ] || { echo "error: unknown option" >&2; exit 1; }
` + start}, ""},
	{"a resume asks", []string{start, `[ -z "$resume" ] || { echo "Resume? [y/N]"; exit 0; }
` + start}, ""},
	{"a resume begins a session of the same ID", []string{
		copied, `if [ -n "$resume" ]; then` + "\n\t: >\"$file\""}, ""},
	{"a resume loads another session", []string{copied, `if [ -n "$fork" ]; then
	echo '{"type":"user","uuid":"1","message":{"content":"another job"}}' >"$file"`}, ""},
	{"a hook blocks a prompt without the rules", []string{"exit=1\ncase $mode", `if ! grep -q "Rule 7" "$FAKE/$n.stdin"; then
	answer=blocked; result='"subtype":"success","is_error":false,"result":"blocked"'; message='{"model":"<synthetic>","content":[]}'; mode=blocked
fi
exit=1
case $mode`, "limit) error 429", "blocked) exit=0 ;;\nlimit) error 429"}, ""},
}

// rounds are the prompts of a job of n rounds. The later ones can be sent as deltas.
func rounds(n int) (prompts []string) {
	text := "You are the coder. Remember number 4711.\n\n## Rules\n\n"
	for i := range 40 {
		text += fmt.Sprintf("- Rule %d: keep functions small, and write a test for case %d.\n", i,
			i)
	}
	for i := range n {
		if i > 0 {
			text += fmt.Sprintf("\n## Rejection %d\n\nThe review says that case %d still fails.\n",
				i, i)
		}
		prompts = append(prompts, text+"\n## Contract\n\nPrint STATUS: REVIEW when done.\n")
	}
	return prompts
}

func TestPlantedClaudes(t *testing.T) {
	toolbox.Long(t)
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	for _, planted := range plantedClaudes {
		script := strings.NewReplacer(planted.pairs...).Replace(grown.Replace(string(fake)))
		if len(planted.pairs) > 0 && script == grown.Replace(string(fake)) {
			t.Fatalf("%s: nothing has changed", planted.name)
		}
		for _, format := range []string{"text", "json", "stream-json"} {
			t.Run(planted.name+", "+format, func(t *testing.T) {
				t.Parallel()
				direct, shimmed := playRounds(t, 3, script, format, false),
					playRounds(t, 3, script, format, true)
				for i := range direct {
					if direct[i].shown != shimmed[i].shown {
						t.Errorf("round %d: %s\nwithout the shim: %s", i+1, shimmed[i].shown,
							direct[i].shown)
					}
					if !strings.Contains(shimmed[i].model, "Rule 7:") {
						t.Errorf("round %d: the model had only %q", i+1, shimmed[i].model)
					}
				}
				if got := shimmed[2].resumed; got != strings.Contains(" "+planted.resumes+" ",
					" "+format+" ") {
					t.Errorf("resumed: %v, with %q", got, shimmed[2].args)
				}
			})
		}
	}
}

// A tool's first request can be shorter than before for another reason than a lost session. The run
// is dropped, but counts for nothing against the tool.
func TestShrinkingRequests(t *testing.T) {
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	script := strings.Replace(grown.Replace(string(fake)), "asked=$((3000 +",
		"asked=$((3000 + 1500 * (n < 4 ? 2 - n / 2 : 0) +", 1)
	for _, format := range []string{"text", "json", "stream-json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			played := playRounds(t, 4, script, format, true)
			for i, round := range played {
				if want := i == 3; round.resumed != want {
					t.Errorf("round %d: resumed %v, with %q\n%s", i+1, round.resumed, round.args,
						round.log)
				}
			}
		})
	}
}

// A playedRound is one call of a job.
type playedRound struct {
	shown   string // exit status, stdout and stderr, but for IDs
	model   string // the content that the model had when it answered
	resumed bool
	args    string
	log     string // the log of all calls until then
}

var ids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// playRounds plays a job's rounds in a home of its own.
func playRounds(t *testing.T, n int, script, format string, shim bool) (played []playedRound) {
	t.Helper()
	var dir string
	for _, prompt := range rounds(n) {
		args := []string{"-p", "--output-format", format}
		if format == "stream-json" {
			args = append(args, "--verbose")
		}
		if dir == "" {
			dir = shimmed(t, script).Dir
			if err := os.WriteFile(filepath.Join(dir, "package.json"),
				[]byte(`{"version": "2.1.330", "bin": {"claude": "claude"}}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(executable(t), args...)
		cmd.Args[0], cmd.Dir = "claude", dir
		if !shim {
			cmd.Path = filepath.Join(dir, "claude")
		}
		cmd.Env = append(toolbox.Home(dir), "PATH="+dir+":"+tools,
			"FAKE="+filepath.Join(dir, "fake"), "TMPDIR="+dir, "REPRISE_TASK=t", "REPRISE_ROLE=r",
			hurry)
		cmd.Stdin = strings.NewReader(prompt)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		count, err := os.ReadFile(filepath.Join(dir, "fake", "count"))
		if err != nil {
			t.Fatal(err)
		}
		n := strings.TrimSpace(string(count))
		model, _ := os.ReadFile(filepath.Join(dir, "fake", n+".seen"))
		given, _ := os.ReadFile(filepath.Join(dir, "fake", n+".args"))
		log, _ := os.ReadFile(filepath.Join(dir, ".local/state/reprise/shim.log"))
		played = append(played, playedRound{
			log: string(log),
			shown: ids.ReplaceAllString(fmt.Sprintf("%d\n%s\n%s", cmd.ProcessState.ExitCode(),
				sameNumbers(stdout.String()), stderr.String()), "ID"),
			model:   string(model),
			args:    string(given),
			resumed: bytes.Contains(given, []byte("--resume")),
		})
	}
	return played
}

// sameNumbers hides the tokens of a request, which are more in a session that goes on.
func sameNumbers(out string) string {
	return regexp.MustCompile(
		`("usage":\{"(input|prompt)_tokens":|"inputTokens":)\d{4,}`).ReplaceAllString(
		out, "${1}N")
}
