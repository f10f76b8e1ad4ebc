package s3

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Only loopback is asked: a service elsewhere needs TLS.
func TestMain(m *testing.M) {
	os.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	os.Exit(m.Run())
}

// A service answers as AWS's services for credentials do, with keys that say which one was asked.
func service(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_ = q.ParseForm()
		until := time.Now().Add(time.Hour).UTC()
		keys := func(name string) map[string]any {
			return map[string]any{"Code": "Success", "AccessKeyId": name, "SecretAccessKey": "s",
				"Token": "t", "Expiration": until.Format(time.RFC3339)}
		}
		switch action := q.Form.Get("Action"); {
		case action != "":
			fmt.Fprintf(w, `<%sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials><AccessKeyId>%[1]s %s</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
				<Expiration>%s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`, action, q.Form.Get("RoleArn"), until.Format(time.RFC3339))
		case q.URL.Path == "/container":
			_ = json.NewEncoder(w).Encode(keys("container"))
		case q.URL.Path == "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "100")
			fmt.Fprint(w, "token")
		case strings.HasSuffix(q.URL.Path, "/security-credentials/"):
			fmt.Fprint(w, "machine")
		case strings.HasSuffix(q.URL.Path, "/security-credentials/machine"):
			_ = json.NewEncoder(w).Encode(keys("machine"))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// Credentials are found where AWS's own tools find them.
func TestCredentials(t *testing.T) {
	at := service(t).URL
	for name, test := range map[string]struct {
		config string
		env    map[string]string
		role   string // address of the service of roles
		want   string
	}{
		"the environment": {"", map[string]string{"AWS_ACCESS_KEY_ID": "variable",
			"AWS_SECRET_ACCESS_KEY": "s"}, "", "variable"},
		"a profile": {"[profile work]\naws_access_key_id = " +
			"static\naws_secret_access_key = s\n", map[string]string{"AWS_PROFILE": "work"}, "",
			"static"},
		"a web identity": {"", map[string]string{"AWS_ROLE_ARN": "arn:2",
			"AWS_WEB_IDENTITY_TOKEN_FILE": "TOKEN"}, at, "AssumeRoleWithWebIdentity arn:2"},
		"a process": {"[default]\ncredential_process = sh PROCESS\n", nil,
			"", "a process"},
		"a container's role": {"", map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": at +
			"/container"}, "", "container"},
		"a machine's role": {"", map[string]string{"AWS_EC2_METADATA_DISABLED": "false"},
			at, "machine"},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, test.config,
				`echo '{"Version": 1, "AccessKeyId": "a process", "SecretAccessKey": "s"}'`)
			for key, value := range test.env {
				t.Setenv(key,
					strings.Replace(value, "TOKEN", filepath.Join(os.Getenv("HOME"), "token"), 1))
			}
			value, err := newFinder(test.role).RetrieveWithCredContext(nil)
			if err != nil || value.AccessKeyID != test.want || value.SecretAccessKey != "s" {
				t.Errorf("%+v, %v, want %s", value, err, test.want)
			}
		})
	}
}

// alone gives the test a home with these shared files, where no machine is asked. PROCESS in them
// is a process.
func alone(t *testing.T, config, process string) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	home := t.TempDir()
	config = strings.ReplaceAll(config, "PROCESS", filepath.Join(home, "process"))
	for name, text := range map[string]string{".aws/config": config,
		"token": "identity", "process": process} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{"HOME": home,
		"AWS_CONFIG_FILE":             filepath.Join(home, ".aws/config"),
		"AWS_SHARED_CREDENTIALS_FILE": filepath.Join(home, "none"),
		"AWS_EC2_METADATA_DISABLED":   "true"} {
		t.Setenv(key, value)
	}
}

// Nothing is a clear error, soon, and without a process's output.
func TestNoCredentials(t *testing.T) {
	for name, config := range map[string]string{
		"nothing":           "",
		"a missing profile": "[default]\nrole_arn = arn:1\nsource_profile = none\n",
		"a wrong process":   "[default]\ncredential_process = sh PROCESS\n",
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, config, "echo not-to-be-printed")
			began := time.Now()
			_, err := newFinder("").RetrieveWithCredContext(nil)
			if !errors.Is(err, errNoCredentials) ||
				strings.Contains(err.Error(), "not-to-be-printed") ||
				time.Since(began) > 3*findTimeout {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
}

// Credentials are fetched anew shortly before they expire, and not sooner.
func TestCredentialsExpire(t *testing.T) {
	for lifetime, want := range map[time.Duration]int{time.Hour: 1, -time.Second: 2} {
		asked := filepath.Join(t.TempDir(), "asked")
		alone(t, "[default]\ncredential_process = sh PROCESS\n", fmt.Sprintf(`echo >>%s
			echo '{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "s", "Expiration": "%s"}'`,
			asked, time.Now().Add(lifetime).UTC().Format(time.RFC3339)))
		creds := credentials.New(newFinder(""))
		for range 2 {
			if _, err := creds.GetWithContext(nil); err != nil {
				t.Fatal(err)
			}
		}
		if lines, err := os.ReadFile(asked); err != nil || len(lines) != want {
			t.Errorf("those for %s were fetched %d times, %v", lifetime, len(lines), err)
		}
	}
}

// A request names the bucket in the path of an endpoint.
func TestAddressing(t *testing.T) {
	asked := make(chan string, 9)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked <- q.Host + q.URL.Path
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	alone(t, "", "")
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	opened, err := Open("s3://bucket?endpoint=http://localhost" + port)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = opened.Read(t.Context(), "key")
	if got, want := <-asked, "localhost"+port+"/bucket/key"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}
