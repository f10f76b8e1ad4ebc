package shim

import (
	"net/url"
	"strings"
	"unicode"

	"reprise/config"
)

// ProjectName returns the name that a directory's project has in a store: the configured one, or the
// URL of its repository's origin, "" if there is none. A clone of a local directory has none.
func ProjectName(dir string, s config.Store) string {
	if s.Project != "" {
		return s.Project
	}
	repo, err := findRepository(dir)
	if err != nil {
		return ""
	}
	return projectOf(repo.config(`remote "origin"`, "url"))
}

// projectOf returns what all URLs of one remote repository have in common, host and path, "" for a
// local one. Ports are left out: the same repository has other ones for SSH and HTTPS.
func projectOf(remote string) string {
	host, path := cutRemote(remote)
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	host = strings.ToLower(withoutPort(host))
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	path = strings.TrimSuffix(strings.Join(parts, "/"), ".git")
	if host == "" || path == "" || strings.ContainsFunc(host+path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return host + "/" + path
}

// cutRemote returns the parts of a URL or of an address in scp's form, empty ones for a local path.
func cutRemote(remote string) (host, path string) {
	if strings.Contains(remote, "://") {
		at, err := url.Parse(remote)
		if err != nil || at.Scheme == "file" {
			return "", ""
		}
		return at.Host, at.Path
	}
	if at := strings.IndexByte(remote, '['); at >= 0 && !strings.ContainsAny(remote[:at], ":/") {
		host, path, _ = strings.Cut(remote[at+1:], "]:")
		return "[" + host[strings.LastIndexByte(host, '@')+1:] + "]", path
	}
	host, path, found := strings.Cut(remote, ":")
	if !found || strings.Contains(host, "/") || strings.HasPrefix(path, ":") { // "x::y" is another program's
		return "", ""
	}
	return host, path
}

// withoutPort removes a port. An address in brackets may contain colons of its own.
func withoutPort(host string) string {
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		inner, _, _ = strings.Cut(inner, "]")
		if strings.Count(inner, ":") > 1 {
			return inner
		}
		host = inner
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}
