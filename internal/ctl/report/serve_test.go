package report

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/test/sample"

	"golang.org/x/net/html"
)

// A served is a server on a ledger, and a browser that keeps its cookies.
type served struct {
	*testing.T
	guard  *guard
	client *http.Client
	close  func()
}

// serveLedger serves a ledger until the test ends.
func serveLedger(t *testing.T, path string) *served {
	t.Helper()
	a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: io.Discard}, Stderr: view.Screen{Writer: io.Discard}, Now: sample.Now, Environ: []string{"HOME=/home/me"}}
	prices, err := a.LoadPrices()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	s := &served{t, newGuard(server.Listener.Addr().String()), &http.Client{}, server.Close}
	source := &source{path: path}
	t.Cleanup(source.close)
	pages := newSite(a, source, view.Reporter{Prices: prices}, s.guard.base())
	pages.now = func() time.Time { return sample.Now }
	s.guard.next = pages.handler()
	server.Config.Handler = s.guard
	server.Start()
	t.Cleanup(server.Close)
	if s.client.Jar, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// get returns the status and the body of an address, which may be relative to the first page.
func (s *served) get(address string) (*http.Response, string) {
	s.Helper()
	base, err := url.Parse("http://" + s.guard.host + s.guard.base())
	if err != nil {
		s.Fatal(err)
	}
	at, err := base.Parse(address)
	if err != nil {
		s.Fatal(err)
	}
	return s.do(httptest.NewRequest(http.MethodGet, at.String(), nil))
}

func (s *served) do(r *http.Request) (*http.Response, string) {
	s.Helper()
	r.RequestURI = ""
	answer, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer, string(body)
}

// Nobody looks without the address, under another name, or to do anything but look.
func TestServeIsGuarded(t *testing.T) {
	s := serveLedger(t, sample.Ledger(t, 30, false))
	refused := func(what string, r *http.Request, status int) {
		t.Helper()
		r.RequestURI = ""
		answer, body := s.do(r)
		if answer.StatusCode != status || strings.Contains(body, "shims did") {
			t.Errorf("%s: %s", what, answer.Status)
		}
		if answer.Header.Get("Access-Control-Allow-Origin") != "" || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", what, answer.Header)
		}
	}
	request := func(method, address string) *http.Request { return httptest.NewRequest(method, address, nil) }
	root := "http://" + s.guard.host
	page := root + s.guard.base()
	refuseAll := func() {
		t.Helper()
		for _, address := range []string{root, root + "/", root + "/version", page, page + "version", page + "day/2026-11-20", page + "call/1",
			page + "?token=", page + "?token=" + s.guard.session, page + "?token=" + s.guard.token[1:], root + "/?token=" + s.guard.token,
			page + "version?token=" + s.guard.token} {
			refused(address, request(http.MethodGet, address), http.StatusForbidden)
		}
	}
	refuseAll()
	forged := request(http.MethodGet, page)
	forged.AddCookie(&http.Cookie{Name: sessionCookie, Value: s.guard.token})
	refused("another cookie", forged, http.StatusForbidden)

	if answer, body := s.get(s.guard.address()); answer.StatusCode != http.StatusOK || !strings.Contains(body, "<h1>What the shims did</h1>") ||
		answer.Request.URL.RawQuery != "" {
		t.Fatalf("with the token: %s at %s", answer.Status, answer.Request.URL)
	}
	refused("a place outside", request(http.MethodGet, root+"/version"), http.StatusForbidden)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, http.MethodTrace, "FETCH"} {
		refused(method, request(method, page), http.StatusMethodNotAllowed)
	}
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1", strings.Replace(s.guard.host, "127.0.0.1", "127.0.0.2", 1), s.guard.host + ".example"} {
		r := request(http.MethodGet, page)
		r.Host = host
		refused("as "+host, r, http.StatusMisdirectedRequest)
	}
	if answer, body := s.do(request(http.MethodHead, page)); answer.StatusCode != http.StatusOK || body != "" {
		t.Errorf("HEAD: %s, %q", answer.Status, body)
	}
}

// The cookie does not reach other sites, scripts, or other ports of this machine.
func TestServeCookie(t *testing.T) {
	s := serveLedger(t, filepath.Join(t.TempDir(), "none.db"))
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, _ := s.get(s.guard.address())
	cookies := answer.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies", len(cookies))
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != s.guard.base() || c.Domain != "" || len(s.guard.path) < 12 || c.Value == s.guard.token {
		t.Errorf("%s", c)
	}
	if strings.Contains(answer.Header.Get("Location"), "token") {
		t.Error("the token stays in the address")
	}
}

// links are the addresses that a page leads to, from the root of the server.
func links(t *testing.T, page string) (found []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if n.Data == "a" && a.Key == "href" && a.Val != "" && a.Val != "#content" {
				found = append(found, a.Val)
			}
		}
	}
	return found
}

// Every link leads to a page, and from the first page all calls can be reached.
func TestServedLinksLeadSomewhere(t *testing.T) {
	s := serveLedger(t, sample.Ledger(t, 60, true))
	_, first := s.get(s.guard.address())
	seen := map[string]bool{}
	for todo := links(t, first); len(todo) > 0; todo = todo[1:] {
		if seen[todo[0]] {
			continue
		}
		seen[todo[0]] = true
		answer, page := s.get(todo[0])
		if answer.StatusCode != http.StatusOK || !strings.HasPrefix(todo[0], s.guard.base()) {
			t.Errorf("%s: %s", todo[0], answer.Status)
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || !strings.HasSuffix(policy, "; frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s", todo[0], policy)
		}
		todo = append(todo, links(t, page)...)
	}
	for i := range 60 {
		if !seen[fmt.Sprintf("%scall/%d", s.guard.base(), i+1)] {
			t.Errorf("no link leads to call %d", i+1)
		}
	}
	for address, want := range map[string]int{"call/61": 404, "call/0": 404, "call/x": 404, "chain/1000": 404, "chain/-1": 404, "chain/9999999999999999999": 404,
		"day/2026-11-31": 404, "else": 404, "?since=yesterday": 400, "?since=1d&until=2d": 400, "day/1999-01-01": 200, "?since=": 200} {
		if answer, body := s.get(address); answer.StatusCode != want || !strings.Contains(body, "<h1>") && want != 404 {
			t.Errorf("%s: %s", address, answer.Status)
		}
	}
}

// Names are shown as they are, whatever stands in them.
func TestServedNamesAreEscaped(t *testing.T) {
	const hostile = `"><script>alert(1)</script><a href='javascript:alert(1)'>`
	path := sample.Ledger(t, 8, false)
	change(t, path, "UPDATE chains SET task = ?1, role = ?1, cwd = ?1", hostile)
	change(t, path, "UPDATE invocations SET cwd = ?1, rule = ?1, model = ?1, native_id = ?1, changed = ?1", hostile)
	change(t, path, "UPDATE sessions SET native_id = ?1, model = ?1", hostile)
	s := serveLedger(t, path)
	_, first := s.get(s.guard.address())
	for _, address := range append(links(t, first), s.guard.base()) {
		_, page := s.get(address)
		if scripts := texts(t, page, "script"); len(scripts) != 1 || strings.Contains(page, "<script>alert") {
			t.Errorf("%s: %d scripts", address, len(scripts))
		}
		for _, link := range links(t, page) {
			if !strings.HasPrefix(link, s.guard.base()) {
				t.Errorf("%s leads to %s", address, link)
			}
		}
	}
	_, page := s.get("call/1")
	if page = strings.ReplaceAll(page, "<wbr>", ""); !strings.Contains(page, html.EscapeString(hostile)) && !strings.Contains(page, "alert(1)&lt;/script&gt;") {
		t.Error("the name is not shown")
	}
}

// change changes a ledger as another process does.
func change(t *testing.T, path, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

// The version changes with the ledger's content, and with the ledger; what is shown is current.
func TestServedPagesAreCurrent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "reprise", "ledger.db")
	s := serveLedger(t, path)
	_, page := s.get(s.guard.address())
	if !strings.Contains(page, "No managed call has been made") {
		t.Error("without a ledger: no word of that")
	}
	before := ""
	changed := func(what string, want bool) {
		t.Helper()
		_, version := s.get("version")
		_, page := s.get("")
		if (version != before) != want || !strings.Contains(page, `data-version="`+version+`"`) {
			t.Errorf("%s: version %q after %q", what, version, before)
		}
		before = version
	}
	changed("at first", true)
	changed("again", false)
	first := sample.Ledger(t, 20, false)
	if err := os.Rename(filepath.Dir(first), filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	changed("a ledger", true)
	changed("again", false)
	change(t, path, "UPDATE chains SET task = 'renamed' WHERE id = (SELECT chain_id FROM invocations ORDER BY id DESC LIMIT 1)")
	changed("a new task", true)
	if _, page := s.get(""); !strings.Contains(page, "renamed") {
		t.Error("the page does not show the new task")
	}
	if err := os.Rename(filepath.Dir(path), filepath.Join(dir, "aside")); err != nil {
		t.Fatal(err)
	}
	changed("none again", true)
}

// A reader that is never done keeps no call waiting, and the server writes nothing.
func TestServeOnlyReads(t *testing.T) {
	path := sample.Ledger(t, 20, false)
	source := &source{path: path}
	defer source.close()
	err := source.read(func(l *ledger.Ledger, _ string) error {
		change(t, path, "UPDATE chains SET task = 'while it is read'")
		if err := l.Reset(1); err == nil {
			t.Error("the ledger was written")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A port that is taken is named.
func TestServeOnATakenPort(t *testing.T) {
	taken := httptest.NewServer(nil)
	defer taken.Close()
	_, port, _ := strings.Cut(taken.Listener.Addr().String(), ":")
	var out, errs bytes.Buffer
	a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &out}, Stderr: view.Screen{Writer: &errs}, Now: sample.Now, Environ: []string{"HOME=" + t.TempDir()}}
	want := "error: port " + port + " is in use\nhint: without --port a free one is taken\n"
	if code := a.Run(ServeCommand(a), []string{"--port", port}); code != app.ExitFailed || errs.String() != want || out.Len() > 0 {
		t.Errorf("exit %d: %s%s", code, &out, &errs)
	}
}

// The overview of one tool, directory or task shows no other calls, and keeps to it in other periods.
func TestServedFilters(t *testing.T) {
	s := serveLedger(t, sample.Ledger(t, 200, false))
	_, first := s.get(s.guard.address())
	for _, filter := range []string{"tool=codex", "directory=%2Fhome%2Fme%2Fsrc%2Fshop", "task=T-1"} {
		var link string
		for _, l := range links(t, first) {
			if strings.Contains(l, filter) {
				link = l
			}
		}
		answer, page := s.get(link)
		if link == "" || answer.StatusCode != http.StatusOK || !strings.Contains(texts(t, page, "h1")[0], ": ") {
			t.Errorf("%s: %q leads to %s", filter, link, answer.Status)
		}
		if filter == "tool=codex" && (strings.Contains(page, "claude") || !strings.Contains(page, ">codex<")) {
			t.Error("the page on one tool shows another one")
		}
		if !strings.Contains(page, html.EscapeString(filter+"&since=7d")) && !strings.Contains(page, html.EscapeString("since=7d&"+filter)) {
			t.Errorf("%s: another period has other calls", filter)
		}
	}
	for _, wrong := range []string{"?tool=cat", "?reason=none", "?outcome=fine", "?chain=nowhere"} {
		if answer, _ := s.get(wrong); answer.StatusCode == http.StatusOK {
			t.Errorf("%s: %s", wrong, answer.Status)
		}
	}
}
