package view

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// pages marks the commands whose output may be longer than the screen.
const pages = "pages"

// Paged marks a command. With the flag unless it shows what happens, which no pager does.
func Paged(c *cobra.Command, unless ...string) *cobra.Command {
	c.Annotations = map[string]string{pages: strings.Join(unless, "")}
	return c
}

// pagerCommand returns what shows the output of a command at a terminal: SHIMCTL_PAGER or PAGER, else less
// if there is one. "" and cat are none.
func pagerCommand(environ []string) string {
	for _, entry := range []string{"SHIMCTL_PAGER", "PAGER"} {
		if command, ok := LookupEnv(environ, entry); ok {
			if strings.TrimSpace(command) == "cat" {
				return ""
			}
			return strings.TrimSpace(command)
		}
	}
	if _, err := exec.LookPath("less"); err == nil {
		return "less"
	}
	return ""
}

// LookupEnv returns a variable and whether it is set.
func LookupEnv(environ []string, name string) (value string, ok bool) {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// StartPager sends what a command prints on a screen through the pager, if a terminal shows it. The returned function waits
// until the reader has left the pager.
func StartPager(c *cobra.Command, s *Screen, environ []string) (wait func()) {
	unless, may := c.Annotations[pages]
	if live := c.Flags().Lookup(unless); live != nil && live.Changed {
		may = false
	}
	command := pagerCommand(environ)
	if !may || !s.Terminal || command == "" {
		return func() {}
	}
	pager := exec.Command("sh", "-c", command)
	pager.Env = environ
	if _, ok := LookupEnv(environ, "LESS"); !ok {
		pager.Env = append(slices.Clone(environ), "LESS=FRX") // leave at once if all fits, keep colors, keep the screen
	}
	pager.Stdout, pager.Stderr = os.Stdout, os.Stderr
	in, err := pager.StdinPipe()
	if err == nil {
		err = pager.Start()
	}
	if err != nil {
		return func() {}
	}
	direct := s.Writer
	s.Writer = untilLeft{in}
	signal.Ignore(syscall.SIGINT) // it is the pager's
	return func() {
		s.Writer = direct
		in.Close()
		_ = pager.Wait() // what it shows last is its own affair
	}
}

// untilLeft drops what comes after the reader has left the pager.
type untilLeft struct{ to io.Writer }

func (w untilLeft) Write(p []byte) (int, error) {
	if n, err := w.to.Write(p); err != nil && !errors.Is(err, syscall.EPIPE) {
		return n, err
	}
	return len(p), nil
}
