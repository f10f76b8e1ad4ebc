// Package report draws what the shims did as one HTML page. Only shimctl uses it.
//
// It is pure: its input is figures and texts, its output a page. The page loads nothing, runs no
// script, and is of bounded size if its input is. Its invariant: every text is escaped, and what is
// not known is never drawn as 0.
package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
)

// A Page is the content from top to bottom. Empty parts are left out.
type Page struct {
	Title    string
	Subtitle string
	Empty    string // replaces all figures
	Facts    []Fact
	Charts   []Chart
	Reasons  []Bar
	Saved    Saved
	Chains   []Chain
	Of       string // the number of chains that those were chosen from
	Footer   string
}

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
	With, Without string // names of a span's two columns; Without is "" if there is only one
	Full          float64
	FullText      string
	Spans         []Span
}

// A Kind is a part of a column. Class is its color in style.css.
type Kind struct{ Name, Class string }

// A Span has an amount for each kind.
type Span struct {
	Label         string
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

// A Chain is drawn as a line of its calls, the earliest first.
type Chain struct {
	Name, About, Summary string
	Calls                []Call
}

// A Call is a mark on that line. Times are in milliseconds.
type Call struct {
	Start, Duration float64
	Class           string // resume, fresh, fell or other
	Failed          bool
	Text            string
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"columns": Chart.columns, "marks": Chain.marks, "bars": bars, "whisker": whisker,
}).Parse(pageHTML))

// Write writes the page.
func Write(w io.Writer, p Page) error {
	sum := sha256.Sum256([]byte(styleCSS))
	var out bytes.Buffer // an error then leaves nothing half written
	err := page.Execute(&out, struct {
		Page
		Style     template.CSS
		StyleHash string
	}{p, template.CSS(styleCSS), "sha256-" + base64.StdEncoding.EncodeToString(sum[:])})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

func known(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }
