package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/test/toolbox"
)

// Files that a resume of gemini's leaves beside the session's file make its next start delete the
// session: it is removed also where the caller resumes by itself.
func TestLeftoversOfObservedResumes(t *testing.T) {
	const id = "7f0cfa0b-8035-44f6-86ea-562f71d6efe2"
	read := func(name string) []byte {
		data, err := os.ReadFile("../../testdata/recordings/gemini/retention/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, resume := range []string{id, "latest"} {
		root := t.TempDir()
		project := filepath.Join(root, "project")
		chats := filepath.Join(root, ".gemini", "tmp", "project", "chats")
		session := filepath.Join(chats, "session-2026-11-21T04-27-7f0cfa0b.jsonl")
		orphan := filepath.Join(chats, "session-2026-11-21T04-28-7f0cfa0b.jsonl")
		for _, dir := range []string{chats, project, filepath.Join(root, "real")} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		tool := "#!/bin/sh\ncp $HOME/orphan.jsonl " + orphan + "\n" +
			`echo '{"type":"init","session_id":"` + id + `","model":"m"}'` + "\n" +
			`echo '{"type":"result","status":"success"}'` + "\n"
		for path, data := range map[string][]byte{
			session: read("session.jsonl"), filepath.Join(root,
				"orphan.jsonl"): read("orphan.jsonl"),
			filepath.Join(root, "real", "gemini"): []byte(tool),
		} {
			if err := os.WriteFile(path, data, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(executable(t), "--resume", resume, "-p", "go on", "-o", "stream-json")
		cmd.Args[0] = "gemini" // see TestMain
		cmd.Dir = project
		cmd.Env = append(toolbox.Home(root), "PATH="+filepath.Join(root, "real")+":/usr/bin:/bin",
			"TMPDIR="+root, "REPRISE_VERBOSE=1", hurry)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if _, err := os.Stat(orphan); err == nil {
			t.Errorf("--resume %s leaves what endangers the session: %s", resume, out)
		}
		if _, err := os.Stat(session); err != nil {
			t.Errorf("--resume %s: %v", resume, err)
		}
	}
}

// A key that the caller passes in a pipe reaches the tool, which can read it once: such a call is
// never run twice. A pipe that the tool is not told of is left over from the caller.
func TestInheritedPipe(t *testing.T) {
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	// Each script is in front of the tool.
	for _, tt := range []struct{ name, script, env, want string }{
		{"the tool's own number", "read -r key <&3; printf '%s ' \"$key\" >>$DIR/keys",
			"A=b", "key key "},
		{"a number in a variable", ". $DIR/read", "KEY_FD=3", "key key "},
		{"a path in a variable", ". $DIR/read", "KEY_FILE=/dev/fd/3", "key key "},
		{"left over", "", "SHLVL=3", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := shimmed(t, tt.script+"\n"+string(fake))
			write := func(name, text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(cmd.Dir, name),
					[]byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("read", "read -r key <${KEY_FILE:-/dev/fd/$KEY_FD}; printf '%s ' \"$key\" "+
				">>$DIR/keys\n")
			var managed bool
			for i, prompt := range rounds(2) {
				reader, writer, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(writer, "key")
				writer.Close()
				call := *cmd
				call.Env = append(slices.Clip(cmd.Env), "FAKE="+filepath.Join(cmd.Dir, "fake"),
					"REPRISE_TASK=t", "REPRISE_ROLE=r", tt.env)
				call.Args = []string{"claude", "-p", prompt}
				call.ExtraFiles = []*os.File{reader}
				if i == 1 {
					args, err := os.ReadFile(filepath.Join(cmd.Dir, "fake/1.args"))
					if err != nil {
						t.Fatal(err)
					}
					managed = strings.Contains(string(args), "--session-id")
					write("fake/mode", "refuse") // the tool refuses to resume
				}
				if out, err := call.CombinedOutput(); err != nil {
					t.Errorf("round %d: %v: %s", i+1, err, out)
				}
				reader.Close()
			}
			keys, _ := os.ReadFile(filepath.Join(cmd.Dir, "keys"))
			if string(keys) != tt.want || managed != (tt.want == "") {
				t.Errorf("managed: %t, and the tool has read %q", managed, keys)
			}
		})
	}
}
