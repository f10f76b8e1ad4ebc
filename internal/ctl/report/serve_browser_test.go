package report

import (
	"fmt"
	"strings"
	"testing"

	"reprise/test/sample"
)

// Each page fits a phone and a desk, can be read in light and dark, and be used without a mouse.
func TestServedPagesInBrowser(t *testing.T) {
	b := newBrowser(t)
	s := serveLedger(t, sample.Ledger(t, 1000, true))
	b.look(1280, "light")
	b.open(s.guard.address())
	if at := b.evaluate("location.search + document.cookie"); at != "" {
		t.Errorf("the page can read %v", at)
	}
	pages := map[string]string{"overview": "", "day": "day/2026-11-20"}
	for _, kind := range []string{"chain", "call"} {
		pages[kind], _ = b.evaluate(fmt.Sprintf(`document.querySelector("main a[href*='/%s/']").getAttribute("href")`, kind)).(string)
	}
	pages["nowhere"] = "call/999999"
	for name, address := range pages {
		if !strings.HasPrefix(address, "/") {
			address = s.guard.base() + address
		}
		b.open("http://" + s.guard.host + address)
		if name == "nowhere" {
			b.says = nil // it says that there is nothing
		}
		b.checkPage(name)
		b.look(375, "light")
		checkKeyboard(b, name)
		b.quiet()
	}
}

// stops are the elements that Tab leads to, in order.
const stops = `[...document.querySelectorAll("a[href]:not([tabindex='-1']), summary, input, [tabindex='0']")].filter(e => e.checkVisibility())`

// checkKeyboard walks through the page by Tab: everything is reached, in order, and can be seen to be.
func checkKeyboard(b *browser, name string) {
	b.Helper()
	b.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
	all := int(b.evaluate(stops + ".length").(float64))
	if all == 0 {
		b.Errorf("%s: Tab leads nowhere", name)
	}
	for i := range all {
		b.press("Tab", 9)
		got := b.evaluate(fmt.Sprintf(`(() => {
			const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
			if (%s[%d] !== e) return "the focus is at " + e.tagName + " " + e.textContent.slice(0, 30);
			if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) return "no focus is seen at " + e.textContent.slice(0, 30);
			if (box.bottom < 0 || box.top > innerHeight) return "the focus is outside at " + e.textContent.slice(0, 30);
			return "";
		})()`, stops, i))
		if got != "" {
			b.Errorf("%s, after %d times Tab: %v", name, i+1, got)
			return
		}
	}
}

// The keys lead to a field that finds rows and chains, to the sections, and past the header.
func TestServedPageByKeys(t *testing.T) {
	s := serveLedger(t, sample.Ledger(t, 200, false))
	b := newBrowser(t)
	b.look(1280, "light")
	b.open(s.guard.address())
	b.wait(`document.querySelector("#live span").textContent === "live"`)
	if got := b.evaluate(`[...document.querySelectorAll(".wide")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel).join()`); got != "" {
		t.Errorf("cut at 1280 pixels: %v", got)
	}
	b.press("Tab", 9)
	b.press("Enter", 13)
	b.wait(`document.activeElement.id === "content"`)
	b.press("n", 78)
	b.wait(`document.activeElement === document.querySelector("h2")`)
	b.press("n", 78)
	b.wait(`document.activeElement === document.querySelectorAll("h2")[1]`)
	b.press("p", 80)
	b.wait(`document.activeElement === document.querySelector("h2")`)
	b.press("/", 191)
	b.wait(`document.activeElement.type === "search"`)
	shown := `[...document.querySelectorAll("main tbody tr")].filter(e => e.checkVisibility()).length`
	all := b.evaluate(shown).(float64)
	b.call("Input.insertText", map[string]any{"text": "GEMINI"}, nil)
	b.wait(shown + " > 0 && " + shown + fmt.Sprintf(" < %f", all))
	b.press("Escape", 27)
	b.wait(shown + fmt.Sprintf(" === %f && document.activeElement === document.body", all))
	b.press("/", 191)
	b.call("Input.insertText", map[string]any{"text": "#7"}, nil)
	b.press("Enter", 13)
	b.wait(`document.querySelector("h1")?.textContent === "Call 7"`)
	b.quiet()

	b.look(390, "dark")
	b.open(s.guard.address())
	// Which tables scroll is said, and paths break at slashes only.
	if got := b.evaluate(`[...document.querySelectorAll("main .full")].map(e => e.parentElement).filter(e => e.scrollWidth > e.clientWidth &&
		!e.previousElementSibling.matches(".scrolls")).map(e => e.ariaLabel).join()`); got != "" {
		t.Errorf("cut without a word: %v", got)
	}
}

// A page follows the ledger, keeps the reader's place, and says when the server is gone.
func TestServedPageIsLive(t *testing.T) {
	path := sample.Ledger(t, 50, false)
	s := serveLedger(t, path)
	b := newBrowser(t)
	b.look(1280, "light")
	b.open(s.guard.address())
	b.wait(`document.querySelector("#live span").textContent === "live"`)
	b.evaluate(`document.querySelector("summary").focus(); document.querySelector("summary").click(); window.kept = true`)
	change(t, path, "UPDATE chains SET task = 'a new name' WHERE id = (SELECT chain_id FROM invocations ORDER BY id DESC LIMIT 1)")
	b.wait(`document.querySelector("main").textContent.includes("a new name")`)
	if kept := b.evaluate(`window.kept && document.querySelector("details").open && document.activeElement === document.querySelector("summary")`); kept != true {
		t.Error("the page has lost the reader's place")
	}
	b.evaluate(`document.querySelector("main a[href*='/call/50']").focus()`)
	change(t, path, `CREATE TEMP TABLE copied AS SELECT * FROM invocations WHERE id = 50; UPDATE copied SET id = 51;
		INSERT INTO invocations SELECT * FROM copied`)
	b.wait(`document.querySelector("main a[href*='/call/51']") !== null`)
	if at := b.evaluate(`document.activeElement.textContent`); at != "#50" {
		t.Errorf("the focus has moved to %v", at)
	}
	b.quiet()
	s.close()
	b.wait(`document.querySelector("#live span").textContent.startsWith("not connected")`)
}

// Without scripts the page is shown, with a link that loads it again.
func TestServedPageWithoutScripts(t *testing.T) {
	s := serveLedger(t, sample.Ledger(t, 50, false))
	b := newBrowser(t)
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.look(375, "light")
	b.open(s.guard.address())
	b.checkPage("without scripts")
	if got := b.evaluate(`document.querySelector("#live").textContent.trim() + " " + (document.querySelector("#live a").href === location.href)`); got != "Refresh true" {
		t.Error(got)
	}
	b.quiet()
}
