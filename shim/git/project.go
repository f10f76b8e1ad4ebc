package git

import (
	"net/url"
	"strings"
	"unicode"
)

// Origin returns the common part of all URLs of the repository's origin, "" without an origin.
func (r Repository) Origin() string { return projectOf(r.config(`remote "origin"`, "url")) }

// projectOf returns the common part of all URLs of one remote repository, host and path, "" for a
// local one. Ports are left out: the same repository has other ones for SSH and HTTPS.
func projectOf(remote string) string {
	at := parseRemote(remote)
	host := strings.ToLower(at.Hostname())
	parts := strings.FieldsFunc(at.Path, func(r rune) bool { return r == '/' })
	path := strings.TrimSuffix(strings.Join(parts, "/"), ".git")
	if host == "" || path == "" ||
		strings.ContainsFunc(host+path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return host + "/" + path
}

// parseRemote parses a URL or an address in scp's form. It returns an empty URL for a local path.
func parseRemote(remote string) *url.URL {
	if strings.Contains(remote, "://") {
		if at, err := url.Parse(remote); err == nil && at.Scheme != "file" {
			return at
		}
		return &url.URL{}
	}
	host, path, found := strings.Cut(remote, ":")
	if at := strings.IndexByte(remote, '['); at >= 0 && !strings.ContainsAny(remote[:at], ":/") {
		host, path, found = strings.Cut(remote[at+1:], "]:")
		if host = host[strings.LastIndexByte(host, '@')+1:]; strings.Count(host, ":") > 1 {
			host = "[" + host + "]" // an address, as url.URL has it
		}
	}
	// "x::y" is another program's
	if !found || strings.Contains(host, "/") || strings.HasPrefix(path, ":") {
		return &url.URL{}
	}
	return &url.URL{Host: host[strings.LastIndexByte(host, '@')+1:], Path: path}
}
