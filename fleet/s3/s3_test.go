package s3_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/fleet/s3"
	"reprise/fleet/selftest"
	"reprise/fleet/store"
	"reprise/test/servers"
	"reprise/test/stores/storetest"
)

func open(t *testing.T, text string) store.Store {
	t.Helper()
	s, err := s3.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestVersitygw(t *testing.T) { conform(t, servers.Versitygw) }

func TestMinio(t *testing.T) { conform(t, servers.Minio) }

func conform(t *testing.T, kind servers.Kind) {
	for _, tls := range []bool{false, true} {
		t.Run(fmt.Sprint("tls=", tls), func(t *testing.T) {
			server := kind.Test(t, tls)
			storetest.Run(t, func(t *testing.T) func() store.Store {
				u := server.Fresh()
				return func() store.Store { return open(t, u) }
			})
			remote{server}.run(t)
			if err := selftest.Run(t.Context(), open(t, server.Fresh())); err != nil {
				t.Error(err)
			}
		})
	}
}

// answering opens a store on a server that gives each request the same answer, and counts them.
func answering(t *testing.T, status int, body string) (s store.Store, requests *int) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	requests = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*requests++
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return open(t, "s3://bucket?endpoint="+url.QueryEscape(server.URL)), requests
}

// The meaning of a server's refusal for a write and for a read. No request is repeated.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status      int
		code        string
		write, read error
	}{
		{500, "InternalError", store.ErrUnknown, store.ErrUnreachable},
		{503, "SlowDown", store.ErrUnknown, store.ErrUnreachable},
		{429, "TooManyRequests", store.ErrUnreachable, store.ErrUnreachable},
		{501, "NotImplemented", store.ErrUnsafe, nil},
		{409, "ConditionalRequestConflict", store.ErrMoved, store.ErrMoved},
		{412, "PreconditionFailed", store.ErrMoved, store.ErrMoved},
		{404, "NoSuchKey", store.ErrMoved, store.ErrAbsent},
		{404, "NoSuchBucket", store.ErrNoStore, store.ErrNoStore},
		{403, "AccessDenied", store.ErrDenied, store.ErrDenied},
		{400, "ExpiredToken", store.ErrDenied, store.ErrDenied},
	} {
		t.Run(fmt.Sprint(c.status, c.code), func(t *testing.T) {
			body := ""
			if c.code != "" {
				body = "<Error><Code>" + c.code + "</Code><Message>why</Message></Error>"
			}
			s, requests := answering(t, c.status, body)
			if _, err := s.Swap(t.Context(), "key", "1", nil); !errors.Is(err, c.write) {
				t.Error("swap:", err)
			}
			if _, err := s.Read(t.Context(), "key"); err == nil ||
				c.read != nil && !errors.Is(err, c.read) {
				t.Error("read:", err)
			}
			if *requests != 2 {
				t.Error(*requests, "requests")
			}
		})
	}
}

// A server that knows no such path is no store, though it answers a read as if the key were
// missing.
func TestNoAPI(t *testing.T) {
	s, _ := answering(t, 404, "")
	if _, err := s.Swap(t.Context(), "key", "", nil); !errors.Is(err, store.ErrNoStore) {
		t.Error(err)
	}
}

func TestURLs(t *testing.T) {
	for text, valid := range map[string]bool{
		"s3://bucket": true, "s3://bucket/a/b?region=eu-1": true,
		"s3://bucket?endpoint=http://127.0.0.1:9": true,
		"s3://id:%hush@bucket":                    false, "s3://bucket?endpoint=127.0.0.1:9": false,
		"s3://bucket?endpoint=": false,
	} {
		_, err := s3.Open(text)
		if (err == nil) != valid || err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// sees returns the access keys of the requests that a server gets.
func sees(t *testing.T) (endpoint string, keys *[]string) {
	t.Helper()
	keys = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, key, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		key, _, _ = strings.Cut(key, "/")
		*keys = append(*keys, key)
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	return "s3://bucket?endpoint=" + url.QueryEscape(server.URL), keys
}

// Credentials come from the environment, then from the shared file, then from the role.
func TestCredentials(t *testing.T) {
	role := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w,
			`{"AccessKeyId":"of-role","SecretAccessKey":"s","Token":"t","Expiration":%q}`,
			time.Now().Add(time.Hour).Format(time.RFC3339))
	}))
	defer role.Close()
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file,
		[]byte("[default]\naws_access_key_id=of-file\naws_secret_access_key=s\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY",
		"AWS_SECRET_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", role.URL)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	endpoint, keys := sees(t)
	use := func() {
		if _, err := open(t, endpoint).Read(t.Context(),
			"key"); !errors.Is(err, store.ErrDenied) {
			t.Error(err)
		}
	}
	use()
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	use()
	t.Setenv("AWS_ACCESS_KEY_ID", "of-environment")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	use()
	if got := strings.Join(*keys, " "); got != "of-role of-file of-environment" {
		t.Error(got)
	}
}

// A service for roles that does not answer holds a call up no longer than its context, and says
// that there are no credentials.
func TestNoCredentials(t *testing.T) {
	hanging := make(chan struct{})
	role := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-hanging
	}))
	defer role.Close()
	defer close(hanging)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY",
		"AWS_SECRET_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", role.URL)
	endpoint, keys := sees(t)
	cause := errors.New("the time is up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	if _, err := open(t, endpoint).Swap(ctx, "key", "", nil); !errors.Is(err, cause) ||
		errors.Is(err, store.ErrUnknown) {
		t.Error(err)
	}
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1")
	if _, err := open(t, endpoint).Swap(t.Context(), "key",
		"", nil); !errors.Is(err, store.ErrDenied) ||
		!strings.Contains(err.Error(), "there are no credentials") {
		t.Error(err)
	}
	if len(*keys) != 0 {
		t.Error("requests of", *keys)
	}
}
