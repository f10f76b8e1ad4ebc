package draw

import (
	"math"
	"strconv"
)

// Drawings are stretched to the page's width, so they contain no text.
const (
	drawingWidth  = 1000.0
	drawingHeight = 100.0
	widestColumn  = 120.0 // one day must not fill the page
)

// A Rect is a part of a drawing, in its units.
type Rect struct {
	X, Y, W, H string
	Class      string
}

func rect(x, y, w, h float64, class string) Rect {
	return Rect{unit(x), unit(y), unit(w), unit(h), class}
}

// unit rounds a number to keep the page small.
func unit(n float64) string { return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64) }

// A Column is the drawing of a span, and its tooltip.
type Column struct {
	Rects []Rect
	Hit   Rect // the whole column, for the tooltip
	Text  string
	URL   string
}

func (c Chart) columns() []Column {
	_, top := c.scale()
	slot := drawingWidth / float64(len(c.Spans))
	w := min(slot*0.85, widestColumn)
	var columns []Column
	for i, s := range c.Spans {
		x := float64(i)*slot + (slot-w)/2
		column := Column{Hit: rect(float64(i)*slot, 0, slot, drawingHeight, "hit"), Text: c.text(s), URL: s.URL}
		if c.Without != "" {
			column.Rects = append(c.stack(s.Without, x, w/2, top, " without"), c.stack(s.With, x+w/2, w/2, top, "")...)
		} else {
			column.Rects = c.stack(s.With, x, w, top, "")
		}
		columns = append(columns, column)
	}
	return columns
}

func (c Chart) stack(amounts []Amount, x, w, top float64, look string) (rects []Rect) {
	y := drawingHeight
	for i, a := range amounts {
		if h := drawingHeight * a.N / top; known(h) && h > 0 {
			y -= h
			rects = append(rects, rect(x, y, w, h, c.Kinds[i].Class+look))
		}
	}
	return rects
}

func (c Chart) text(s Span) string {
	text := s.Label + ": "
	if c.Without != "" {
		text += c.Without + " " + s.Instead.Text + ", " + c.With + " "
	}
	text += s.Sum.Text
	if len(c.Kinds) > 1 {
		for i, a := range s.With {
			text += "\n" + c.Kinds[i].Name + " " + a.Text
		}
	}
	return text
}

// A Length is a bar and its drawn length.
type Length struct {
	Bar
	Width string
}

func bars(list []Bar) (lengths []Length) {
	var most int64
	for _, b := range list {
		most = max(most, b.Count)
	}
	for _, b := range list {
		lengths = append(lengths, Length{b, unit(drawingWidth * float64(b.Count) / float64(most))})
	}
	return lengths
}

// A Mark is a call on its chain's line.
type Mark struct {
	Rect
	Text   string
	Failed bool
	URL    string
}

// Calls differ in length by orders of magnitude, pauses even more. Both are drawn in units of the
// mean call, and cut to the visible range.
const (
	shortestCall, longestCall   = 0.4, 3
	shortestPause, longestPause = 0.2, 1.2
	fewestUnits                 = 24 // of a line: a single call must not fill it
)

func (c Chain) marks() []Mark {
	var total, told float64
	for _, call := range c.Calls {
		if known(call.Duration) {
			total, told = total+call.Duration, told+1
		}
	}
	mean := max(1, total/max(1, told))
	x, end := 0.0, 0.0
	type span struct{ x, w float64 }
	var spans []span
	for i, call := range c.Calls {
		if i > 0 {
			x += within((call.Start-end)/mean, shortestPause, longestPause)
		}
		w := within(call.Duration/mean, shortestCall, longestCall)
		spans = append(spans, span{x, w})
		x += w
		end = call.Start
		if known(call.Duration) {
			end += call.Duration
		}
	}
	scale := drawingWidth / max(x, fewestUnits)
	var marks []Mark
	for i, call := range c.Calls {
		y := 0.0
		if call.Class != "resume" {
			y = 45 // distinguished by more than its color
		}
		marks = append(marks, Mark{rect(spans[i].x*scale, y, spans[i].w*scale, drawingHeight-y, call.Class), call.Text, call.Failed, call.URL})
	}
	return marks
}

func within(n, low, high float64) float64 {
	if !known(n) {
		return low
	}
	return min(max(n, low), high)
}

// whisker draws an interval as a line and a dot. The middle is 0, the left end -100 %, the right end
// +100 %.
func whisker(i Interval) []Rect {
	at := func(share float64) float64 { return drawingWidth / 2 * (1 + within(share, -1, 1)) }
	return []Rect{rect(at(i.Low), 42, max(at(i.High)-at(i.Low), 4), 16, "line"), rect(at(i.Mean)-6, 15, 12, 70, "dot")}
}
