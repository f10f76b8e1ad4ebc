// Package draw draws what the shims did as HTML pages. Only shimctl uses it.
//
// It is pure: its input is figures and texts, its output a page. The page loads nothing and is of
// bounded size if its input is. It runs no script, except that a page with a Version reloads itself
// from its server. Its invariant: every text is escaped, and what is not known is never drawn as 0.
package draw

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

// A Page is the content from top to bottom. Empty parts are left out.
type Page struct {
	Trail    []Link // the pages above this one
	Title    string
	Subtitle string
	Others   []Link // the same page of other periods; the current one has no URL
	Headline string // the page's content in one sentence
	Text     string // the same in a paragraph
	Command  string // what to run next
	Empty    string // replaces all figures
	Facts    []Fact
	Latest   []Table
	Charts   []Chart
	Tables   []Table
	Saved    Saved
	Reasons  []Bar
	Timeline string // the title of the chains, "" for "Chains"
	Chains   []Chain
	Of       string // the number of chains that those were chosen from
	Footer   string
	Live     Live
}

// Live keeps a page current that a server sends. The zero value leaves the page as it is.
type Live struct {
	URL     string // returns the version of the data
	Version string // that the page was made from
}

// A Link is a text that leads to another page. Without a URL it is only text.
type Link struct{ Text, URL string }

// A Fact is a figure at the top.
type Fact struct{ Name, Value, About string }

// An Amount is a figure and its text. NaN is not drawn.
type Amount struct {
	N    float64
	Text string
}

// A Chart has one column, or two to compare, for each span of days.
type Chart struct {
	Title, About  string
	Kinds         []Kind
	With, Without string               // names of a span's two columns; Without is "" if there is only one
	Full          float64              // where the scale ends, 0 to end it at the highest column
	Tick          func(float64) string // writes an amount at the scale
	Spans         []Span
}

// A Kind is a part of a column. Class is its color in style.css.
type Kind struct{ Name, Class string }

// A Span has an amount for each kind.
type Span struct {
	Label         string
	Short         string // the label below the column
	URL           string // "" for none
	With, Without []Amount
	Sum, Instead  Amount // of With and Without
}

// A Bar is a line of a list.
type Bar struct {
	Name, About, Class string
	Count              int64
	Text               string
}

// Saved is what resuming saved, and how that was determined.
type Saved struct {
	Words []string
	Head  []string
	Drawn bool // the column after the first shows changes
	Rows  []Row
}

// A Row is one figure. Interval, the change's, is nil if there is none.
type Row struct {
	Name     string
	Change   string
	Interval *Interval
	Cells    []Cell
}

// A Cell is a mean, and its interval if there is one.
type Cell struct{ Text, Range string }

// An Interval is a difference as a share of what it is compared with: -0.5 is half less.
type Interval struct{ Low, Mean, High float64 }

// A Table has a row for each of the things that its first column names.
type Table struct {
	Title, About string
	Head         []string
	Words        bool // its cells are texts, which are wrapped, not figures
	Rows         []TableRow
}

// A TableRow is a name, and the other cells.
type TableRow struct {
	Name  Link
	Cells []Link
}

// A Chain is drawn as a line of its calls, the earliest first.
type Chain struct {
	Name           Link // without a text it and About are left out
	About, Summary string
	Calls          []Call
}

// A Call is a mark on that line. Times are in milliseconds.
type Call struct {
	Start, Duration float64
	Class           string // resume, fresh, fell or other
	Failed          bool
	Text            string
	URL             string // "" for none
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string
	//go:embed live.js
	liveJS string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"columns": Chart.columns, "ticks": Chart.ticks, "labels": Chart.labels, "marks": Chain.marks, "bars": bars, "whisker": whisker,
	"breakable": breakable,
}).Parse(pageHTML))

// breakable returns a text in which a line may end after each slash of a path.
func breakable(text string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(text), "/", "/<wbr>"))
}

// Write writes the page.
func Write(w io.Writer, p Page) error {
	var out bytes.Buffer // an error then leaves nothing half written
	err := page.Execute(&out, struct {
		Page
		Style  template.CSS
		Script template.JS
		Policy string
	}{p, template.CSS(styleCSS), template.JS(liveJS), p.Policy()})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// Policy returns the page's Content-Security-Policy. It allows the page's own style, and if the page
// is live its own script and requests to its server.
func (p Page) Policy() string {
	policy := "default-src 'none'; style-src " + digest(styleCSS) + "; base-uri 'none'; form-action 'none'"
	if p.Live.URL != "" {
		policy += "; script-src " + digest(liveJS) + "; connect-src 'self'"
	}
	return policy
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func known(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }
