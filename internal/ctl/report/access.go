package report

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
)

// A guard lets only those look who know the token, which other users of the machine do not.
//
// The cookie that stands for the token holds below a path of its own: browsers send a cookie to all
// ports of a host, so a server of another user would get it otherwise.
type guard struct {
	host    string // where the server listens
	path    string // secret too, but it stands in the browser's history
	token   string // opens the first page
	session string // the cookie's value
	next    http.Handler
}

// sessionCookie is the name of the cookie.
const sessionCookie = "reprise"

func newGuard(host string) *guard {
	return &guard{host: host, path: rand.Text()[:12], token: rand.Text(), session: rand.Text()}
}

// base returns the path of all pages.
func (g *guard) base() string { return "/" + g.path + "/" }

// address returns where to look.
func (g *guard) address() string { return "http://" + g.host + g.base() + "?token=" + g.token }

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
	} {
		w.Header().Set(name, value)
	}
	inside, ok := strings.CutPrefix(r.URL.Path, g.base())
	switch {
	case !g.isHost(r.Host): // a name of another site that leads here
		http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this server only shows", http.StatusMethodNotAllowed)
	case ok && inside == "" && same(r.URL.Query().Get("token"), g.token):
		http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: g.session, Path: g.base(), HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, g.base(), http.StatusSeeOther)
	case !ok || !g.admits(r):
		http.Error(w, "open the whole address that shimctl serve has printed; it is another one after each start", http.StatusForbidden)
	default:
		http.StripPrefix(strings.TrimSuffix(g.base(), "/"), g.next).ServeHTTP(w, r)
	}
}

// isHost reports whether the name that the browser asked for is this server's.
func (g *guard) isHost(name string) bool {
	_, port, err := net.SplitHostPort(g.host)
	return err == nil && slices.Contains([]string{g.host, "localhost:" + port}, name)
}

func (g *guard) admits(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(sessionCookie), func(c *http.Cookie) bool { return same(c.Value, g.session) })
}

// same compares without telling by its duration how much is alike.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
