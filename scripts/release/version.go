package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A version is the output of git describe. A commit after a tag sorts after the tag's release and
// before the next one, a commit without a tag before every release.
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

// npm returns the version for npm, a semantic version. There a commit after a release is
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
	return v.release[:last] + strconv.Itoa(patch+1) + "-0." + strconv.Itoa(v.commits) + ".g" +
		v.commit
}
