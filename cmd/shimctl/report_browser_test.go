package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// chromium is the browser of REPRISE_CHROMIUM, or the one on PATH.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("REPRISE_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no chromium on PATH, and REPRISE_CHROMIUM names none")
	return ""
}

// look is run in the page when it has been laid out, and leaves what it saw in the frame
// around it. There is one since a window cannot be as narrow as a phone.
const look = `<script>
for (const details of document.querySelectorAll("details")) details.open = true;
const wide = [...document.querySelectorAll("body *")].filter(e =>
	!e.closest(".wide") && e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.tagName + "." + e.className);
parent.document.documentElement.setAttribute("data-seen", [innerWidth, document.documentElement.scrollWidth,
	getComputedStyle(document.body).backgroundColor, wide.join(" ")].join("|"));
</script>`

// A page fits a phone, in light and dark, and the browser has nothing to complain of.
func TestReportInBrowser(t *testing.T) {
	browser := chromium(t)
	for name, page := range samplePages(t) {
		for mode, want := range map[string]string{"light": "360|360|rgb(255, 255, 255)|", "dark": "360|360|rgb(18, 21, 27)|"} {
			if got := lookAt(t, browser, page, mode); got != want {
				t.Errorf("%s, %s: %q, want %q", name, mode, got, want)
			}
		}
	}
}

func lookAt(t *testing.T, browser, page, mode string) string {
	t.Helper()
	// The policy would keep even the look out.
	page = strings.Replace(page, "default-src 'none';", "default-src 'none'; script-src 'unsafe-inline';", 1)
	page = strings.Replace(page, "</body>", look+"</body>", 1)
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	frame := `<!DOCTYPE html><iframe width="360" height="800" srcdoc="` + html.EscapeString(page) + `"></iframe>`
	if err := os.WriteFile(file, []byte(frame), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	scheme := map[string]string{"light": "1", "dark": "0"}[mode]
	c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--hide-scrollbars", "--blink-settings=preferredColorScheme="+scheme,
		"--dump-dom", "file://"+file)
	c.Env = append(os.Environ(), "HOME="+dir)
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, &errs)
	}
	for line := range strings.Lines(errs.String()) {
		if strings.Contains(line, ":CONSOLE") {
			t.Errorf("the browser says: %s", line)
		}
	}
	root, err := html.Parse(strings.NewReader(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "data-seen" {
				return a.Val
			}
		}
	}
	return ""
}
