package servers_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"reprise/test/servers"
)

// Each server starts with and without TLS, and again after it was killed.
func TestServers(t *testing.T) {
	for _, kind := range []servers.Kind{servers.Versitygw, servers.Minio} {
		for _, tls := range []bool{false, true} {
			t.Run(fmt.Sprint(kind.Name, "/tls=", tls), func(t *testing.T) {
				t.Setenv("TMPDIR", readable(t))
				s := kind.Test(t, tls)
				first := s.Fresh()
				s.Kill9()
				if _, err := net.Dial("tcp", s.Address); err == nil {
					t.Error("it still listens")
				}
				if err := s.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
				if second := s.Fresh(); first == second {
					t.Fatal(first, second)
				}
				if _, err := url.Parse(first); err != nil || strings.Contains(first, s.Secret) {
					t.Error(first, err)
				}
				if err := s.Stop(); err != nil {
					t.Error(err)
				}
				left, err := os.ReadDir(os.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				for _, entry := range left {
					if strings.HasPrefix(entry.Name(), "reprise-"+kind.Name) {
						t.Error("it left", entry.Name())
					}
				}
			})
		}
	}
}

// Without REPRISE_STORES no server is started.
func TestWanted(t *testing.T) {
	for list, want := range map[string]bool{"": false, "1": true, "minio": false,
		"minio,versitygw": true} {
		t.Setenv("REPRISE_STORES", list)
		if got := servers.Versitygw.Wanted(); got != want {
			t.Errorf("%q: %v", list, got)
		}
	}
}

// readable makes a temporary directory that other users can enter, unlike testing's.
func readable(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "servers-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	if err := os.Chmod(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	return directory
}
