package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"reprise/test/toolbox"
)

// What a resume of gemini's leaves beside the session's file makes its next start delete the
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
