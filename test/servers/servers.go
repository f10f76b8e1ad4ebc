// Package servers starts the servers of shared stores for tests, as ordinary processes on loopback.
//
// It installs nothing but into the user's cache directory, and uses no server of the machine.
// Invariant: a server ends with the test that started it, and takes the data along.
package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// ErrMissing reports that a server is not installed and cannot be installed here.
var ErrMissing = errors.New("the server is not installed")

// A Server is a running server.
type Server struct {
	Kind    string
	Address string            // host and port on loopback
	Env     map[string]string // variables that a client needs
	Secret  string            // a text that no message can contain

	url       url.URL // of all stores in it
	stores    atomic.Int64
	directory string
	command   func() *exec.Cmd
	running   *exec.Cmd
	output    bytes.Buffer
	ended     chan struct{}
}

// A Kind is a program with S3's API, which `go install` builds.
type Kind struct {
	Name, module, version string
	command               func(s *Server, bin string, tls bool) *exec.Cmd
}

// The programs that tests run against, in the versions that these were written for. MinIO publishes
// no others to the module proxy.
var (
	Versitygw = Kind{"versitygw", "github.com/versity/versitygw/cmd/versitygw", "v1.8.0",
		(*Server).versitygw}
	Minio = Kind{"minio", "github.com/minio/minio", "v0.0.0-20260212201848-7aac2a2c5b7c",
		(*Server).minio}
)

const startTimeout = 30 * time.Second

// Wanted reports whether tests run on such servers: REPRISE_STORES is 1, or a list of names with
// this one.
func (k Kind) Wanted() bool {
	wanted := os.Getenv("REPRISE_STORES")
	return wanted == "1" || slices.Contains(strings.Split(wanted, ","), k.Name)
}

// Test starts a server for a test and sets the test's environment to a client's. It skips the test
// where the server is not wanted or cannot be installed.
func (k Kind) Test(t *testing.T, tls bool) *Server {
	t.Helper()
	if !k.Wanted() {
		t.Skipf("REPRISE_STORES is neither 1 nor a list that contains %s", k.Name)
	}
	s, err := k.Start(t.Context(), tls)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	for name, value := range s.Env {
		t.Setenv(name, value)
	}
	return s
}

// Fresh returns the URL of a new, empty store, a prefix in the bucket. It contains no secret.
func (s *Server) Fresh() string {
	return s.url.JoinPath(fmt.Sprint("store-", s.stores.Add(1))).String()
}

// Kill9 ends the server without notice.
func (s *Server) Kill9() {
	_ = s.running.Process.Kill() // fails only if it has ended
	<-s.ended
}

// Restart starts it again with the same data and address, after Kill9.
func (s *Server) Restart(ctx context.Context) error { return s.launch(ctx) }

// Stop ends the server and removes its data.
func (s *Server) Stop() error {
	if s.running != nil {
		s.Kill9()
	}
	return os.RemoveAll(s.directory)
}

// launch starts the process and waits until it accepts connections.
func (s *Server) launch(ctx context.Context) error {
	s.output.Reset()
	running, ended := s.command(), make(chan struct{})
	running.Stdout, running.Stderr = &s.output, &s.output
	// the kernel kills it after the test was killed
	running.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := running.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.Kind, err)
	}
	go func() {
		_ = running.Wait() // its output says why
		close(ended)
	}()
	s.running, s.ended = running, ended
	for {
		conn, err := net.Dial("tcp", s.Address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ended:
			return fmt.Errorf("start %s: it ended: %s", s.Kind, s.output.String())
		case <-ctx.Done():
			s.Kill9()
			return fmt.Errorf("start %s: %w", s.Kind, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
