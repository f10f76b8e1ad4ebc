package servers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	s3 "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	accessKey = "reprise-test"
	bucket    = "sessions"
)

func (s *Server) versitygw(bin string, tls bool) *exec.Cmd {
	args := []string{"--port", s.Address, "--access", accessKey, "--secret", s.Secret,
		"--keep-alive", "--quiet"}
	if tls {
		args = append(args, "--cert", s.path(certificate), "--key", s.path(key))
	}
	return exec.Command(bin, append(args, "posix", s.path("data"))...)
}

func (s *Server) minio(bin string, tls bool) *exec.Cmd {
	certs := s.path("none") // MinIO speaks TLS if it finds a certificate
	if tls {
		certs = s.path("certs")
	}
	cmd := exec.Command(bin, "server", "--quiet", "--address", s.Address, "--certs-dir", certs,
		s.path("data"))
	cmd.Env = append(os.Environ(), "MINIO_ROOT_USER="+accessKey,
		"MINIO_ROOT_PASSWORD="+s.Secret, "MINIO_UPDATE=off", "MINIO_BROWSER=off",
		"HOME="+s.directory)
	return cmd
}

// Start starts a server with one bucket, in a directory that other users can enter.
func (k Kind) Start(ctx context.Context, tls bool) (*Server, error) {
	bin, err := k.Install()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // on a free port
	if err != nil {
		return nil, err
	}
	s := &Server{Kind: k.Name, Address: listener.Addr().String(), Secret: "not-to-be-printed",
		Env: map[string]string{}}
	if s.directory, err = os.MkdirTemp("", "reprise-"+k.Name+"-"); err != nil {
		return nil, err
	}
	if err := errors.Join(listener.Close(), os.Chmod(s.directory, 0o755)); err != nil {
		return nil, err
	}
	s.command = func() *exec.Cmd { return k.command(s, bin, tls) }
	s.Env["AWS_ACCESS_KEY_ID"], s.Env["AWS_SECRET_ACCESS_KEY"] = accessKey, s.Secret
	s.Env["AWS_SESSION_TOKEN"], s.Env["AWS_PROFILE"] = "", ""
	endpoint := url.URL{Scheme: "http", Host: s.Address}
	if tls {
		endpoint.Scheme = "https"
		s.Env["AWS_CA_BUNDLE"] = s.path(certificate)
	}
	s.url = url.URL{Scheme: "s3", Host: bucket,
		RawQuery: url.Values{"endpoint": {endpoint.String()}}.Encode()}
	if err := os.MkdirAll(s.path("data"), 0o755); err != nil {
		return nil, err
	}
	if err := writeCertificate(s.directory); err != nil {
		return nil, err
	}
	err = s.launch(ctx)
	if err == nil {
		err = s.makeBucket(ctx, tls)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// makeBucket repeats while the server, which accepts connections already, is not ready.
func (s *Server) makeBucket(ctx context.Context, secure bool) error {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	client, err := s3.New(s.Address, &s3.Options{Secure: secure, Transport: transport,
		Region: "us-east-1", MaxRetries: 1,
		Creds: credentials.NewStaticV4(accessKey, s.Secret, "")})
	if err != nil {
		return err
	}
	for {
		err := client.MakeBucket(ctx, bucket, s3.MakeBucketOptions{})
		// made by the try before
		if err == nil || s3.ToErrorResponse(err).StatusCode == http.StatusConflict {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("make bucket: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *Server) path(name string) string { return filepath.Join(s.directory, name) }
