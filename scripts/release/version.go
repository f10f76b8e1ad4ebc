package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A version is the output of git describe, which each kind of package writes in its own syntax. A
// commit after a tag sorts after the tag's release and before the next one, a commit without a tag
// before every release.
type version struct {
	release    string // 1.2.3; "" without a tag
	prerelease string // rc.1
	commits    int    // since the tag
	commit     string // its abbreviation
	day        string // of the commit
}

var described = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(?:-([A-Za-z][0-9A-Za-z.]*))?(?:-(\d+)-g([0-9a-f]+))?$`)

func parseVersion(text string, at time.Time) version {
	v := version{day: at.Format("20060102")}
	m := described.FindStringSubmatch(text)
	if m == nil {
		v.commit = text
		return v
	}
	v.release, v.prerelease, v.commit = m[1], m[2], m[4]
	v.commits, _ = strconv.Atoi(m[3])
	return v
}

// system returns the version for Debian and RPM, where a tilde sorts before the end of a version.
func (v version) system() string {
	if v.release == "" {
		return "0~" + v.day + "." + v.commit
	}
	text := v.release
	if v.prerelease != "" {
		text += "~" + v.prerelease
	}
	if v.commits > 0 {
		text += "+" + strconv.Itoa(v.commits) + "+g" + v.commit
	}
	return text
}

// npm returns the version for npm and Homebrew, a semantic version. There a commit after a release is
// a prerelease of the next one.
func (v version) npm() string {
	switch {
	case v.release == "":
		return "0.0.0-0." + v.day + ".g" + v.commit
	case v.commits == 0 && v.prerelease == "":
		return v.release
	case v.commits == 0:
		return v.release + "-" + v.prerelease
	case v.prerelease != "":
		return v.release + "-" + v.prerelease + ".0." + strconv.Itoa(v.commits) + ".g" + v.commit
	}
	last := strings.LastIndexByte(v.release, '.') + 1
	patch, _ := strconv.Atoi(v.release[last:])
	return v.release[:last] + strconv.Itoa(patch+1) + "-0." + strconv.Itoa(v.commits) + ".g" + v.commit
}

// python returns the version by PEP 440.
func (v version) python() string {
	if v.release == "" {
		return "0.0.0.dev" + v.day + "+g" + v.commit
	}
	text := v.release + strings.ReplaceAll(v.prerelease, ".", "")
	if v.commits > 0 {
		text += ".post" + strconv.Itoa(v.commits) + "+g" + v.commit
	}
	return text
}
