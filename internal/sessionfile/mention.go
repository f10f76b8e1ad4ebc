package sessionfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"

	"reprise/internal/prune"
	"reprise/ledger"
	"reprise/rewrite"
)

// A Finder finds the files of sessions. It reads the files that keep sessions only once, so each
// run needs a new one.
type Finder struct {
	mentions map[[2]string]mentions // by home and pattern
}

// mentions are the files of a pattern, by the IDs in their first lines.
type mentions struct {
	files map[string][]string
	err   error
}

// keeps returns why the tool itself still needs the session, nil if it does not.
func (f *Finder) keeps(root *os.Root, s ledger.SessionFile, parts rewrite.SessionFiles) error {
	unlock, err := lock(root, parts.Lock)
	if err != nil {
		return err
	}
	unlock()
	for _, pattern := range parts.Running {
		if err := f.mentioned(root, s, parts, pattern, prune.Open); err != nil {
			return err
		}
	}
	for _, pattern := range parts.Forks {
		if err := f.mentioned(root, s, parts, pattern, prune.Forked); err != nil {
			return err
		}
	}
	return nil
}

func (f *Finder) mentioned(root *os.Root, s ledger.SessionFile, parts rewrite.SessionFiles,
	pattern string, why prune.Reason) error {
	key := [2]string{s.Home, pattern}
	m, ok := f.mentions[key]
	if !ok {
		m = readMentions(root, pattern)
		if f.mentions == nil {
			f.mentions = map[[2]string]mentions{}
		}
		f.mentions[key] = m
	}
	for _, file := range m.files[s.NativeID] {
		if file != parts.Paths[0] {
			return keep(why)
		}
	}
	return m.err
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// readMentions fails if one of the files exists and cannot be read: it might name any session.
func readMentions(root *os.Root, pattern string) mentions {
	m := mentions{files: map[string][]string{}}
	var files []string
	if files, m.err = fs.Glob(root.FS(), pattern); m.err != nil {
		return m
	}
	for _, file := range files {
		line, err := firstLine(root, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			m.err = err
		}
		for _, id := range anyID.FindAllString(line, -1) {
			m.files[id] = append(m.files[id], file)
		}
	}
	return m
}

// maxLine exceeds any first line that a tool writes.
const maxLine = 1 << 20

func firstLine(root *os.Root, file string) (string, error) {
	f, err := openRegular(root, file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxLine)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
}
