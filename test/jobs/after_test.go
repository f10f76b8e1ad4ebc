package jobs

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/realcli"
)

// A front stands before the stand-in on one address, and can be away.
type front struct {
	t      *testing.T
	to     *url.URL
	addr   string
	server *http.Server
}

func (f *front) open() {
	listener, err := net.Listen("tcp", f.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	f.addr, f.server = listener.Addr().String(),
		&http.Server{Handler: httputil.NewSingleHostReverseProxy(f.to)}
	go func() { _ = f.server.Serve(listener) }()
}

func (f *front) close() { f.server.Close() }

// After a resumed call that fails, the same call again goes on from where the failed one did,
// unless the failure can lie in the session.
func TestAfterAFailure(t *testing.T) {
	type failure struct {
		status int // of each request
		away   bool
		call   harness.Call
		fresh  string // why the next call is fresh, "" if it is resumed
	}
	hang := func(signal syscall.Signal) failure {
		return failure{call: harness.Call{Signal: signal, At: harness.Middle}}
	}
	failures := map[string]failure{
		"401": {status: 401}, "429": {status: 429}, "500": {status: 500}, "529": {status: 529},
		"refused": {away: true},
		"SIGINT":  hang(syscall.SIGINT), "SIGTERM": hang(syscall.SIGTERM),
		"SIGKILL": hang(syscall.SIGKILL),
		"timeout": {call: harness.Call{Around: `timeout 10 "$0" "$@"`}},
		// the failing call itself runs fresh
		"403": {status: 403, fresh: "no_answer (meant to resume: extends)"},
	}
	each(t, failures, func(t *testing.T, name string, failure failure) {
		for format, answer := range formats {
			if format == "--output-format|json|--verbose" {
				continue // as json
			}
			t.Run(format, func(t *testing.T) {
				t.Parallel()
				var failing atomic.Bool
				w := newWorldWith(t, realcli.Claude, true,
					markers.Options{Reply: func(r standin.Request) (standin.Reply, bool) {
						if failure.status != 0 {
							return markers.Fails(r, failure.status), failing.Load()
						}
						return markers.Hangs("Well"), failing.Load()
					}})
				put(t, filepath.Join(w.Root, "home", ".config", "reprise", "config.toml"),
					"gate_timeout = '5m'\nunnamed = 'extends'\n")
				to, err := url.Parse(w.Model.URL())
				if err != nil {
					t.Fatal(err)
				}
				f := front{t: t, to: to, addr: "127.0.0.1:0"}
				f.open()
				defer func() { f.close() }()
				call := func(c harness.Call, prompt string) result {
					c.Args, c.Env = []string{"-p"}, []string{"ANTHROPIC_BASE_URL=http://" + f.addr}
					if format != "" {
						c.Args = append(c.Args, list(format)...)
					}
					c.Args = append(c.Args, prompt)
					return w.run("claude", c)
				}
				notes := []string{"Round 2: what number was it?"}
				call(harness.Call{}, round())
				if failing.Store(true); failure.away {
					f.close()
				}
				// claude 2.1.329 then ends with 0
				if r := call(failure.call, round(notes...)); r.Exit == 0 && name != "SIGINT" {
					t.Fatalf("the call that fails: %q", r.Stdout)
				}
				if failing.Store(false); failure.away {
					f.open()
				}
				r := call(harness.Call{}, round(notes...))
				if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 || r.Stderr != "" {
					t.Errorf("the call after it: %q, exit %d, stderr %q", got, r.Exit, r.Stderr)
				}
				said := w.run("shimctl", harness.Call{Args: list("status")}).Stdout
				if failure.fresh == "" {
					w.sentOnlyNews(r, 2, notes)
				} else if !strings.Contains(said, failure.fresh) {
					t.Errorf("log lacks %q:\n%s", failure.fresh, said)
				}
			})
		}
	})
}
