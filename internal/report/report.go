// Package report draws what the shims did as one HTML page. Only shimctl uses it.
//
// It is pure: figures and their words come in, a page goes out. The page loads nothing,
// runs no script, and is of bounded size if what comes in is. Its invariant: every word
// that comes in is escaped, and what is not known is never drawn as 0.
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

// A Page is what is shown, from top to bottom; what is empty is left out.
type Page struct {
	Title    string
	Subtitle string
	Empty    string // stands in the place of all figures
	Facts    []Fact
	Charts   []Chart
	Reasons  []Bar
	Saved    Saved
	Chains   []Chain
	Of       string // of how many chains those are
	Footer   string
}

// A Fact is a figure at the top.
type Fact struct{ Name, Value, About string }

// An Amount is a figure and how it is written. NaN is drawn as nothing.
type Amount struct {
	N    float64
	Text string
}

// A Chart has a column, or two to compare, for each span of days.
type Chart struct {
	Title, About  string
	Kinds         []Kind
	With, Without string // what the two columns of a span are; Without is "" where there is one
	Full          float64
	FullText      string
	Spans         []Span
}

// A Kind is a part of a column. Class is its colour in style.css.
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

// Saved is what resuming saved, and how that was found.
type Saved struct {
	Words []string
	Head  []string
	Drawn bool // the column after the first shows changes
	Rows  []Row
}

// A Row is one figure; Interval, the change's, is nil where there is none.
type Row struct {
	Name     string
	Change   string
	Interval *Interval
	Cells    []Cell
}

// A Cell is a mean, and the interval that it lies in, if there is one.
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
	var out bytes.Buffer // so that a mistake leaves nothing half written
	err := page.Execute(&out, struct {
		Page
		Style     template.CSS
		StyleHash string
	}{p, template.CSS(styleCSS), "sha256-" + base64.StdEncoding.EncodeToString(sum[:])})
	if err != nil {
		return fmt.Errorf("draw report: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

func known(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }
