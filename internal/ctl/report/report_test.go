package report

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/test/sample"
)

// pageOf returns the page of a sample of calls, and the calls.
func pageOf(t *testing.T, calls int) (string, sums) {
	t.Helper()
	path := sample.Ledger(t, calls, false)
	a := &app.App{Stdin: os.Stdin, Now: sample.Now,
		Environ: []string{"HOME=/home/me", "XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
	var out bytes.Buffer
	var s sums
	err := a.WithLedger(func(l *ledger.Ledger, r view.Reporter) (err error) {
		if s, err = read(l, history.Filter{}, r); err != nil {
			return err
		}
		return page.Execute(&out, newContent(a, r, history.Filter{}, s))
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), s
}

// The page stands alone, fits a phone and the dark, and its pictures have room for a screen of rows
// each, with no bar beyond a cell.
func TestPage(t *testing.T) {
	for _, calls := range []int{1, 400, 3000} {
		text, _ := pageOf(t, calls)
		for _, want := range []string{"name=\"viewport\"", "prefers-color-scheme: dark",
			"default-src 'none'"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d calls: no %s", calls, want)
			}
		}
		if regexp.MustCompile(`<script|https?://|url\(|\bNaN\b|%!`).MatchString(text) {
			t.Errorf("%d calls: the page loads something, or a figure is broken", calls)
		}
		pictures := strings.Split(text, "<h2>")[1:]
		if len(pictures) > 3 || calls > 1 && len(pictures) != 3 {
			t.Errorf("%d calls: %d pictures", calls, len(pictures))
		}
		for _, p := range pictures {
			if rows := strings.Count(p, "<tr>"); rows == 0 || rows > mostDays+1 {
				t.Errorf("%d calls: %d rows in %.20s", calls, rows, p)
			}
			widest := 0.0
			for _, width := range regexp.MustCompile(` width="([^"]*)"`).FindAllStringSubmatch(
				p[strings.Index(p, "</caption>"):], -1) {
				n, err := strconv.ParseFloat(width[1], 64)
				if err != nil || n < 0 || n > 100 {
					t.Errorf("%d calls: a bar of %q", calls, width[1])
				}
				widest = max(widest, n)
			}
			if widest != 100 {
				t.Errorf("%d calls: the longest bar is %g", calls, widest)
			}
		}
	}
}

// The savings of the days add up to the saving on top.
func TestDaysAddUp(t *testing.T) {
	_, s := pageOf(t, 400)
	p, saved := days(s), 0.0
	for _, r := range p.Rows {
		saved += r.Bars[0].amount - r.Bars[1].amount
	}
	if want := float64(s.saved.Cost.Saved); math.Abs(saved-want) > 1e-6*math.Abs(want)+1 ||
		len(p.Rows) < 10 {
		t.Errorf("%d days saved %g, all %g", len(p.Rows), saved, want)
	}
}
