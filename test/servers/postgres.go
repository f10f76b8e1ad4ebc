package servers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"reprise/test/toolbox"

	"github.com/jackc/pgx/v5/pgconn"
)

const user = "reprise"

// startPostgres starts a server that sorts texts unlike bytes, and that returns before a commit is on the
// disk unless a client asks otherwise. A store is a schema in it.
func startPostgres(ctx context.Context, tls bool) (*Server, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s, err := newServer("postgres")
	if err != nil {
		return nil, err
	}
	if err := s.initPostgres(bin); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	ssl := "off"
	query := url.Values{"sslmode": {"disable"}}
	if tls {
		ssl = "on"
		query = url.Values{"sslmode": {"verify-full"}, "sslrootcert": {s.path(certificate)}}
	}
	s.command = func() *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", s.path("data"), "-p", s.port(), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
			"-c", "max_connections=200", "-c", "synchronous_commit=off", "-c", "wal_writer_delay=10s", "-c", "ssl="+ssl, "-c", "ssl_cert_file="+s.path(certificate), "-c", "ssl_key_file="+s.path(key))
		unprivileged(cmd)
		return cmd
	}
	s.Env["PGPASSWORD"] = s.Secret
	s.url = url.URL{Scheme: "postgres", User: url.User(user), Host: s.Address, Path: "/postgres", RawQuery: query.Encode()}
	s.fresh = freshSchema
	if err := s.launch(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// postgresBin returns the directory of PostgreSQL's programs, which Debian does not put on PATH.
func postgresBin() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // a constant pattern
	slices.Reverse(found)                                         // the newest
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	for _, path := range found {
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "postgres")); err == nil {
			return filepath.Dir(path), nil
		}
	}
	return "", fmt.Errorf("%w: no postgres beside an initdb on PATH or below /usr/lib/postgresql", ErrMissing)
}

// initPostgres makes a cluster that is owned by an unprivileged user: the server refuses to run as root.
func (s *Server) initPostgres(bin string) error {
	if err := writeCertificate(s.directory); err != nil {
		return err
	}
	if err := os.WriteFile(s.path("password"), []byte(s.Secret), 0o600); err != nil {
		return err
	}
	if err := os.Mkdir(s.path("data"), 0o700); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		owner := toolbox.Nobody.Credential
		err := filepath.WalkDir(s.directory, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, int(owner.Uid), int(owner.Gid)))
		})
		if err != nil {
			return err
		}
	}
	cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", s.path("data"), "-U", user, "--pwfile", s.path("password"), "--auth", "scram-sha-256",
		"--no-sync", "--encoding", "UTF8", "--locale", "C", "--locale-provider", "icu", "--icu-locale", "en")
	unprivileged(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

func unprivileged(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = toolbox.Nobody.Credential
	}
}

// freshSchema repeats while the server, which accepts connections already, is not ready.
func freshSchema(ctx context.Context, s *Server, number int64) (*url.URL, error) {
	config, err := pgconn.ParseConfig(s.url.String())
	if err != nil {
		return nil, err
	}
	config.Password = s.Secret
	conn, err := pgconn.ConnectConfig(ctx, config)
	for err != nil && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
		conn, err = pgconn.ConnectConfig(ctx, config)
	}
	if err != nil {
		return nil, err
	}
	schema := fmt.Sprint("store_", number)
	_, err = conn.Exec(ctx, "CREATE SCHEMA "+schema).ReadAll()
	u := s.url
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return &u, errors.Join(err, conn.Close(ctx))
}
