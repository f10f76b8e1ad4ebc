package servers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	accessKey = "reprise-test"
	bucket    = "sessions"
)

func startVersitygw(ctx context.Context, tls bool) (*Server, error) {
	bin, err := versitygw.install()
	if err != nil {
		return nil, err
	}
	return startS3(ctx, "versitygw", tls, func(s *Server) *exec.Cmd {
		args := []string{"--port", s.Address, "--access", accessKey, "--secret", s.Secret,
			"--keep-alive", "--quiet"}
		if tls {
			args = append(args, "--cert", s.path(certificate), "--key", s.path(key))
		}
		return exec.Command(bin, append(args, "posix", s.path("data"))...)
	})
}

func startMinio(ctx context.Context, tls bool) (*Server, error) {
	bin, err := minioPin.install()
	if err != nil {
		return nil, err
	}
	return startS3(ctx, "minio", tls, func(s *Server) *exec.Cmd {
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
	})
}

// startS3 starts a server with one bucket. A store is a prefix in it.
func startS3(ctx context.Context, kind string, tls bool, command func(*Server) *exec.Cmd) (*Server,
	error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s, err := newServer(kind)
	if err != nil {
		return nil, err
	}
	s.command = func() *exec.Cmd { return command(s) }
	s.Env["AWS_ACCESS_KEY_ID"], s.Env["AWS_SECRET_ACCESS_KEY"] = accessKey, s.Secret
	s.Env["AWS_SESSION_TOKEN"], s.Env["AWS_PROFILE"] = "", ""
	endpoint := url.URL{Scheme: "http", Host: s.Address}
	if tls {
		endpoint.Scheme = "https"
		s.Env["AWS_CA_BUNDLE"] = s.path(certificate)
	}
	s.url = url.URL{Scheme: "s3", Host: bucket,
		RawQuery: url.Values{"endpoint": {endpoint.String()}}.Encode()}
	s.fresh = func(_ context.Context, s *Server, number int64) (*url.URL, error) {
		return s.url.JoinPath(fmt.Sprint("store-", number)), nil
	}
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
func (s *Server) makeBucket(ctx context.Context, tls bool) error {
	transport, err := transportFor(s.path(certificate))
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	client, err := minio.New(s.Address, &minio.Options{Secure: tls, Transport: transport,
		Region: "us-east-1", MaxRetries: 1,
		Creds: credentials.NewStaticV4(accessKey, s.Secret, "")})
	if err != nil {
		return err
	}
	for {
		err := client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{})
		// made by the try before
		if err == nil || minio.ToErrorResponse(err).StatusCode == http.StatusConflict {
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
