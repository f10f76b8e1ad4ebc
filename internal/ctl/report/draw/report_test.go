package draw

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func draw(t *testing.T, p Page) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// full is a page with everything in it, with the word in each place that takes one.
func full(word string) Page {
	amounts := []Amount{{1, word}, {2, word}}
	span := Span{Label: word, Short: word, With: amounts, Without: amounts, Sum: Amount{3, word}, Instead: Amount{3, word}}
	return Page{
		Title: word, Subtitle: word, Headline: word, Text: word, Command: word, Empty: word, Footer: word, Of: word,
		Trail: []Link{{word, ""}}, Others: []Link{{word, ""}},
		Latest: []Table{{Title: word, Words: true}}, Timeline: word,
		Tables: []Table{{Title: word, About: word, Head: []string{word, word}, Rows: []TableRow{{Link{word, ""}, []Link{{word, ""}}}}}},
		Facts:  []Fact{{word, word, word}},
		Charts: []Chart{{Title: word, About: word, Kinds: []Kind{{word, "input"}, {word, "output"}}, With: word, Without: word,
			Tick:  func(float64) string { return word },
			Spans: []Span{span, span, span, span}}},
		Reasons: []Bar{{Name: word, About: word, Class: "fresh", Count: 1, Text: word}},
		Saved: Saved{Words: []string{word}, Head: []string{word, word, word}, Drawn: true,
			Rows: []Row{{word, word, &Interval{-0.5, -0.4, -0.3}, []Cell{{word, word}}}}},
		Chains: []Chain{{Name: Link{word, ""}, About: word, Summary: word, Calls: []Call{{0, 10, "resume", true, word, ""}, {20, math.NaN(), "fresh", false, word, ""}}}},
	}
}

// linked is a page as a server sends it, with the word in each text and address.
func linked(word string) Page {
	p := full(word)
	p.Live = Live{"/" + word, word}
	p.Trail, p.Others = []Link{{word, "/" + word}}, []Link{{word, "/" + word}, {word, ""}}
	p.Tables[0].Rows[0] = TableRow{Link{word, "/" + word}, []Link{{word, "/" + word}}}
	p.Chains[0].Name.URL, p.Chains[0].Calls[0].URL = "/"+word, "/"+word
	for i := range p.Charts[0].Spans {
		p.Charts[0].Spans[i].URL = "/" + word
	}
	return p
}

// elements reads the page and fails where an element is not closed as it was opened.
func elements(t *testing.T, page string) (tokens []html.Token) {
	t.Helper()
	void := []string{"meta", "br"}
	var open []string
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("not closed: %v", open)
			}
			return tokens
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if token.Data == "wbr" { // a line may end in a name, after a slash
				continue
			}
			tokens = append(tokens, token)
			if kind == html.StartTagToken && !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if token := z.Token(); len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> after %v", token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
}

// Nothing in a page is fetched, run or sent, whatever names are in it.
func TestNamesAreEscaped(t *testing.T) {
	for _, make := range []func(string) Page{full, linked} {
		namesAreEscaped(t, make)
	}
}

func namesAreEscaped(t *testing.T, make func(string) Page) {
	plain := elements(t, draw(t, make("a word")))
	for _, hostile := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</title></style><b>`,
		`{{.Title}}`, `javascript:alert(1)`, "a\x00b\u2028</svg>", `<!-- `, `&lt;b&gt;`, `]]>`,
	} {
		page := draw(t, make(hostile))
		tokens := elements(t, page)
		if len(tokens) != len(plain) {
			t.Errorf("%q makes other elements", hostile)
			continue
		}
		for i, token := range tokens {
			if token.Data != plain[i].Data || len(token.Attr) != len(plain[i].Attr) {
				t.Errorf("%q makes %s of %s", hostile, token, plain[i])
			}
		}
	}
}

func TestPageIsSelfContained(t *testing.T) {
	page := draw(t, full("a word"))
	for _, token := range elements(t, page) {
		if slices.Contains([]string{"script", "link", "img", "iframe", "object", "embed", "base", "form"}, token.Data) {
			t.Errorf("the page has %s", token)
		}
		for _, attribute := range token.Attr {
			if attribute.Val == "#content" { // the way past the header
				continue
			}
			if slices.Contains([]string{"src", "href", "style", "srcset"}, attribute.Key) || strings.HasPrefix(attribute.Key, "on") {
				t.Errorf("the page has %s", token)
			}
		}
	}
	if regexp.MustCompile(`https?://|url\(|@import`).MatchString(page) {
		t.Error("the page names an address")
	}
	_, after, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(after, "</style>")
	sum := sha256.Sum256([]byte(style))
	if want := fmt.Sprintf("default-src &#39;none&#39;; style-src &#39;sha256-%s&#39;", base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(html.UnescapeString(page), html.UnescapeString(want)) {
		t.Errorf("the policy does not name the style by its digest: want %s", want)
	}
}

func TestColumns(t *testing.T) {
	c := Chart{Kinds: []Kind{{"a", "input"}, {"b", "output"}}, With: "was", Without: "would", Spans: []Span{
		{"mon", "m", "", []Amount{{30, "30"}, {20, "20"}}, []Amount{{60, "60"}, {40, "40"}}, Amount{50, "50"}, Amount{100, "100"}},
		{"tue", "t", "", []Amount{{math.NaN(), "n/a"}, {0, "0"}}, []Amount{{math.NaN(), "n/a"}, {0, "0"}}, Amount{math.NaN(), "n/a"}, Amount{math.NaN(), "n/a"}},
	}}
	if c.highest() != 100 {
		t.Errorf("the highest is %v", c.highest())
	}
	columns := c.columns()
	want := []Rect{
		{"190", "40", "60", "60", "input without"}, {"190", "0", "60", "40", "output without"},
		{"250", "70", "60", "30", "input"}, {"250", "50", "60", "20", "output"},
	}
	if !slices.Equal(columns[0].Rects, want) {
		t.Errorf("drawn as %v", columns[0].Rects)
	}
	if want := "mon: would 100, was 50\na 30\nb 20"; columns[0].Text != want {
		t.Errorf("it says %q", columns[0].Text)
	}
	if len(columns[1].Rects) != 0 || !strings.Contains(columns[1].Text, "n/a") {
		t.Errorf("what is not known is drawn: %+v", columns[1])
	}
}

// A chart without a figure says so.
func TestEmptyChart(t *testing.T) {
	none := []Amount{{math.NaN(), "n/a"}}
	page := draw(t, Page{Charts: []Chart{{Title: "Money", Kinds: []Kind{{"cost", "output"}}, Spans: []Span{{"mon", "m", "", none, none, none[0], none[0]}}}}})
	if !strings.Contains(page, "n/a: no call told.") || strings.Contains(page, "<svg") {
		t.Error(page)
	}
}

// The scale ends at a round number with at most four lines above 0.
func TestTicks(t *testing.T) {
	for highest, want := range map[float64]string{1: "1 0.5 0", 0.3: "0.3 0.2 0.1 0", 16.3: "20 15 10 5 0", 20: "20 15 10 5 0", 2001: "3000 2000 1000 0", 7e9: "8e+09 6e+09 4e+09 2e+09 0"} {
		c := Chart{Tick: func(n float64) string { return fmt.Sprintf("%.3g", n) }, Spans: []Span{{Sum: Amount{N: highest}}}}
		if highest >= 1000 && highest < 1e6 {
			c.Tick = func(n float64) string { return fmt.Sprint(n) }
		}
		var got []string
		for _, tick := range c.ticks() {
			got = append(got, tick.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("up to %v: %v", highest, got)
		}
	}
	if ticks := (Chart{Full: 1, Tick: func(float64) string { return "" }}).ticks(); len(ticks) != 3 || ticks[1].Y != "50%" {
		t.Errorf("up to a given end: %v", ticks)
	}
}

// Labels stand below their columns, and the outer ones of many within the drawing.
func TestLabels(t *testing.T) {
	for n, want := range map[int]string{
		1: "0 at 50% middle", 2: "0 at 25% middle, 1 at 75% middle",
		30: "0 at 0% start, 7 at 25% middle, 15 at 51.67% middle, 22 at 75% middle, 29 at 100% end",
	} {
		c := Chart{}
		for i := range n {
			c.Spans = append(c.Spans, Span{Short: strconv.Itoa(i)})
		}
		var got []string
		for _, l := range c.labels() {
			got = append(got, l.Text+" at "+l.X+" "+l.Anchor)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%d columns: %s", n, strings.Join(got, ", "))
		}
	}
}

// A live page runs its own script and nothing else.
func TestLivePage(t *testing.T) {
	page := draw(t, linked("a word"))
	_, after, _ := strings.Cut(page, "<script>")
	script, _, _ := strings.Cut(after, "</script>")
	sum := sha256.Sum256([]byte(script))
	policy := linked("a word").Policy()
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; connect-src 'self'"; script == "" || !strings.HasSuffix(policy, want) {
		t.Errorf("the policy is %s, want %s", policy, want)
	}
	if !strings.Contains(html.UnescapeString(page), policy) {
		t.Error("the page does not have the policy")
	}
}

// A line keeps the order and within the page, whatever the times.
func TestMarks(t *testing.T) {
	for _, calls := range [][]Call{
		{{Start: 5, Duration: 10}},
		{{Start: 0, Duration: 10}, {Start: 5, Duration: 1e12}, {Start: 1e15, Duration: 0}, {Start: -4, Duration: math.NaN()}},
		make([]Call, 60),
	} {
		end := 0.0
		for _, m := range (Chain{Calls: calls}).marks() {
			var x, w float64
			fmt.Sscan(m.X, &x)
			fmt.Sscan(m.W, &w)
			if x < end-0.01 || w < 1 || x+w > drawingWidth+0.02 {
				t.Errorf("%d calls: a mark from %v, %v wide, after %v", len(calls), x, w, end)
			}
			end = x + w
		}
	}
}

// Words can be read, and drawings told from the paper, in light and in dark.
func TestContrast(t *testing.T) {
	light, dark, ok := strings.Cut(styleCSS, "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("there are no dark colours")
	}
	for mode, style := range map[string]string{"light": light, "dark": dark} {
		colours := map[string][3]float64{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): #(..)(..)(..);`).FindAllStringSubmatch(style, -1) {
			var c [3]float64
			for i, part := range m[2:] {
				n, err := strconv.ParseUint(part, 16, 8)
				if err != nil {
					t.Fatal(err)
				}
				c[i] = float64(n) / 255
			}
			colours[m[1]] = c
		}
		if len(colours) != 14 {
			t.Errorf("%s: %d colours", mode, len(colours))
		}
		for name, colour := range colours {
			least := 3.0
			switch name {
			case "paper", "card", "line":
				continue
			case "ink", "dim", "link":
				least = 4.5
			}
			for _, ground := range []string{"paper", "card"} {
				if got := contrast(colour, colours[ground]); got < least {
					t.Errorf("%s: %s on %s has a contrast of %.2f", mode, name, ground, got)
				}
			}
		}
	}
}

// contrast is that of WCAG 2.
func contrast(a, b [3]float64) float64 {
	luminance := func(c [3]float64) float64 {
		for i, n := range c {
			if n <= 0.04045 {
				c[i] = n / 12.92
			} else {
				c[i] = math.Pow((n+0.055)/1.055, 2.4)
			}
		}
		return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05
	}
	x, y := luminance(a), luminance(b)
	return max(x, y) / min(x, y)
}

// A line may end after each slash of a path, and only there.
func TestBreakable(t *testing.T) {
	if got := breakable("~/src/a <b>/c"); got != "~/<wbr>src/<wbr>a &lt;b&gt;/<wbr>c" {
		t.Error(got)
	}
}
