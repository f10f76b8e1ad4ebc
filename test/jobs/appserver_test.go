package jobs

import (
	"fmt"
	"testing"

	"reprise/test/harness"
	"reprise/test/markers"
)

// An appServer is a client of a tool that is a server, and its server's processes that are counted.
type appServer struct {
	sdk     sdk
	script  string
	program string // on PATH, "" for the tool
	args    []string
	counted int
}

var appServers = map[string]appServer{
	"codex app-server":  {sdk: codexAppServer, script: "appserver.py", counted: 2},
	"codex exec-server": {sdk: codexTS, script: "execserver.mjs", counted: 1},
	"gemini --acp": {sdk: geminiACP, script: "acp.mjs", args: list("--acp"),
		counted: 2},
	// a program of its own, without a shim
	"vibe-acp": {sdk: vibeACP, script: "acp.mjs", program: "vibe-acp"},
}

// A server and its client notice nothing of the shim, and status counts the server.
func TestAppServers(t *testing.T) {
	each(t, appServers, func(t *testing.T, name string, server appServer) {
		job := newSDKJob(t, server.sdk, server.script, markers.Options{})
		job.cli = server.program
		direct, shimmed := job.run(job.direct, server.args...), job.run(job.shimmed, server.args...)
		for _, difference := range harness.Compare(job.direct.World, job.shimmed.World,
			direct.Result, shimmed.Result) {
			t.Errorf("%s: %s", name, difference)
		}
		if len(direct.Asked) == 0 {
			t.Errorf("the model was not asked:\n%s", direct.Stdout)
		}
		if server.counted > 0 {
			job.shimmed.statusSays(`"reason": "app_server"`,
				fmt.Sprintf(`"calls": %d,`, server.counted))
		}
	})
}
