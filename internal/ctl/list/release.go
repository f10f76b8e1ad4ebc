package list

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reprise/internal/ctl/app"
)

// A release is where the files of one are: a directory or the address of one.
type release struct{ dir, url string }

// findRelease returns the release that the user names, or the latest of this module's repository.
func findRelease(from string) (release, error) {
	repository := app.RepositoryOf(app.ModulePath())
	switch {
	case from == "" && repository == "":
		return release{}, app.Usage("--from is missing: this program does not know where its releases are", "name the directory or the https URL of a release")
	case from == "":
		return release{url: "https://" + repository + "/releases/latest/download"}, nil
	case !strings.Contains(from, "://"):
		if info, err := os.Stat(from); err == nil && info.Mode().IsRegular() {
			from = filepath.Dir(from)
		}
		return release{dir: from}, nil
	}
	u, err := url.Parse(strings.TrimSuffix(from, "/"))
	if err != nil || !trusted(u) {
		return release{}, app.Usage(fmt.Sprintf("%q is not an https URL", from), "plain http is only for this machine: 127.0.0.1, [::1] or localhost")
	}
	return release{url: u.String()}, nil
}

// trusted reports whether nobody on the way can change what comes from there.
func trusted(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return u.Scheme == "https" && host != "" || u.Scheme == "http" && (host == "localhost" || ip != nil && ip.IsLoopback())
}

func (r release) name(file string) string {
	if r.url != "" {
		return r.url + "/" + file
	}
	return filepath.Join(r.dir, file)
}

const (
	largest  = 4 << 20 // of what is read from a release
	patience = time.Minute
)

// read returns one of the release's files.
func (r release) read(file string) (text []byte, err error) {
	if r.url == "" {
		if text, err = os.ReadFile(r.name(file)); err != nil {
			err = app.WithHint(err, "name the directory of a release with --from")
		}
		return text, err
	}
	if text, err = download(r.name(file)); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", r.name(file), err)
	}
	return text, nil
}

func download(address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: func(next *http.Request, _ []*http.Request) error {
		if !trusted(next.URL) {
			return fmt.Errorf("it leads to %s", next.URL.Redacted())
		}
		return nil
	}}
	response, err := client.Do(request)
	if err != nil {
		return nil, errors.Unwrap(err) // without the address, which the caller names
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, largest+1))
	if err == nil && len(text) > largest {
		err = fmt.Errorf("it has more than %d bytes", largest)
	}
	return text, err
}
