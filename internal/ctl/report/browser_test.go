package report

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// A browser is a chromium with one page, controlled through a pipe by its DevTools protocol. The
// page's policy does not keep what a test evaluates from running.
type browser struct {
	*testing.T
	commands io.Writer
	answers  *bufio.Reader
	session  string
	sent     int
	says     []string // what it complained of
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(chromium(t), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--remote-debugging-pipe", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+dir)
	ours, its := [2]*os.File{}, [2]*os.File{}
	var err error
	if its[0], ours[0], err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	if ours[1], its[1], err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = its[:]
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	its[0].Close()
	its[1].Close()
	patience := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	b := &browser{T: t, commands: ours[0], answers: bufio.NewReader(ours[1])}
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil, nil)
		cmd.Wait()
		patience.Stop()
		ours[0].Close()
		ours[1].Close()
	})
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Log", "Runtime", "Page"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call runs a command of the protocol.
func (b *browser) call(method string, params map[string]any, result any) {
	b.Helper()
	b.sent++
	command := map[string]any{"id": b.sent, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.commands.Write(append(text, 0)); err != nil {
		b.Fatal(err)
	}
	for {
		message, err := b.answers.ReadBytes(0)
		if err != nil {
			b.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Method string
			Error  *struct{ Message string }
			Result json.RawMessage
			Params struct {
				Entry            struct{ Level, Text, URL string }
				ExceptionDetails json.RawMessage
			}
		}
		if err := json.Unmarshal(message[:len(message)-1], &answer); err != nil {
			b.Fatal(err)
		}
		switch {
		case answer.Method == "Log.entryAdded" && answer.Params.Entry.Level != "verbose":
			b.says = append(b.says, answer.Params.Entry.Text+" "+answer.Params.Entry.URL)
		case answer.Method == "Runtime.exceptionThrown":
			b.says = append(b.says, string(answer.Params.ExceptionDetails))
		case answer.ID == b.sent && answer.Error != nil:
			b.Fatalf("%s: %s", method, answer.Error.Message)
		case answer.ID == b.sent:
			if result != nil {
				if err := json.Unmarshal(answer.Result, result); err != nil {
					b.Fatal(err)
				}
			}
			return
		}
	}
}

// evaluate returns the value of an expression in the page.
func (b *browser) evaluate(expression string) any {
	b.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return answer.Result.Value
}

// wait waits until an expression is true.
func (b *browser) wait(expression string) {
	b.Helper()
	for range 400 {
		if b.evaluate(expression) == true {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	b.Fatalf("it never was true: %s; the browser says %v", expression, b.says)
}

// look sets the width of the page and the color scheme.
func (b *browser) look(width int, scheme string) {
	b.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

func (b *browser) open(address string) {
	b.Helper()
	var answer struct{ ErrorText string }
	b.call("Page.navigate", map[string]any{"url": address}, &answer)
	if answer.ErrorText != "" {
		b.Fatalf("%s: %s", address, answer.ErrorText)
	}
	b.wait(`document.readyState === "complete" && location.href !== "about:blank"`)
}

// press presses a key.
func (b *browser) press(key string, code int) {
	b.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
	}
}

// picture writes the whole page as a picture, if samples are wanted.
func (b *browser) picture(name string) {
	b.Helper()
	if *samples == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(*samples, name+".png"), png, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// faults is an expression: what does not fit the page, and texts that cannot be read.
const faults = `(() => {
	for (const details of document.querySelectorAll("details")) details.open = true;
	const found = [], name = e => e.tagName + "." + e.getAttribute("class") + " " + e.textContent.trim().slice(0, 30);
	if (document.documentElement.scrollWidth > innerWidth) found.push("the page is " + document.documentElement.scrollWidth + " wide");
	const channels = text => text.match(/[\d.]+/g).map(Number);
	const luminance = color => channels(color).slice(0, 3).map(n => (n /= 255) <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4)
		.reduce((sum, n, i) => sum + n * [0.2126, 0.7152, 0.0722][i], 0.05);
	const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)]; return Math.max(x, y) / Math.min(x, y); };
	const ground = e => {
		for (; e; e = e.parentElement) {
			const color = getComputedStyle(e).backgroundColor;
			if (color.startsWith("rgb(")) return color;
		}
		return "rgb(255, 255, 255)";
	};
	let words = 0;
	for (const e of document.querySelectorAll("body, body *")) {
		if (!e.closest(".wide") && e.getBoundingClientRect().right > innerWidth + 0.5) found.push("too far right: " + name(e));
		if (["SCRIPT", "title"].includes(e.tagName) || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize);
		const least = size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5;
		const ratio = contrast(e.tagName === "text" ? style.fill : style.color, ground(e));
		words++;
		if (!(ratio >= least) || style.opacity !== "1") found.push("a contrast of " + ratio.toFixed(2) + ": " + name(e));
		if (size < 12) found.push("written small: " + name(e));
	}
	if (words < 3) found.push("there is nothing to read");
	return found.slice(0, 10).join("\n");
})()`

// checkPage checks a page at the widths of a phone and of a desk, in light and dark.
func (b *browser) checkPage(name string) {
	b.Helper()
	for _, width := range []int{390, 1280} {
		for scheme, paper := range map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(18, 21, 27)"} {
			b.look(width, scheme)
			look := fmt.Sprintf("%s, %d wide, %s", name, width, scheme)
			if got := b.evaluate("getComputedStyle(document.body).backgroundColor"); got != paper {
				b.Errorf("%s: the paper is %v", look, got)
			}
			b.picture(strings.NewReplacer(", ", "-", " ", "-").Replace(look))
			if found := b.evaluate(faults); found != "" {
				b.Errorf("%s:\n%s", look, found)
			}
			b.evaluate(`for (const details of document.querySelectorAll("details")) details.open = false`)
		}
	}
}

// quiet fails the test if the browser complained of something.
func (b *browser) quiet() {
	b.Helper()
	for _, word := range b.says {
		b.Errorf("the browser says: %s", word)
	}
	b.says = nil
}
