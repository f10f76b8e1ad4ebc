package draw

import "math"

// Limits of what stands at the axes.
const (
	mostTicks  = 4 // above 0
	mostLabels = 5 // as many as fit a phone
)

// highest returns the amount of the highest column, 0 if there is nothing to draw.
func (c Chart) highest() (n float64) {
	for _, s := range c.Spans {
		for _, a := range []Amount{s.Sum, s.Instead} {
			if known(a.N) {
				n = max(n, a.N)
			}
		}
	}
	return n
}

// Drawn reports whether there is anything to draw.
func (c Chart) Drawn() bool { return c.highest() > 0 }

// scale returns the distance of two ticks, a round number, and the amount at the top of the drawing.
func (c Chart) scale() (step, top float64) {
	top = c.Full
	if top == 0 {
		top = c.highest()
	}
	if top == 0 {
		return 1, 1
	}
	step = math.Pow(10, math.Floor(math.Log10(top/mostTicks)))
	for _, times := range []float64{1, 2, 5, 10} {
		if times*step*mostTicks >= top*(1-1e-9) {
			step *= times
			break
		}
	}
	return step, step * math.Ceil(top/step*(1-1e-9))
}

// A Tick is a line across a chart, and the amount that it stands for.
type Tick struct{ Y, Text string }

// ticks returns the lines from the top to 0.
func (c Chart) ticks() (list []Tick) {
	step, top := c.scale()
	for n := int(math.Round(top / step)); n >= 0; n-- {
		amount := float64(n) * step
		list = append(list, Tick{percent(1 - amount/top), c.Tick(amount)})
	}
	return list
}

// A Label stands below a column.
type Label struct{ X, Anchor, Text string }

// labels returns labels for some of the columns, evenly distributed: for all if they are few.
func (c Chart) labels() (list []Label) {
	last := len(c.Spans) - 1
	n := min(len(c.Spans), mostLabels)
	for i := range n {
		at := 0
		if n > 1 {
			at = int(math.Round(float64(i*last) / float64(n-1)))
		}
		l := Label{percent((float64(at) + 0.5) / float64(last+1)), "middle", c.Spans[at].Short}
		if len(c.Spans) > mostLabels { // the first and the last one must not leave the drawing
			switch i {
			case 0:
				l.X, l.Anchor = percent(0), "start"
			case n - 1:
				l.X, l.Anchor = percent(1), "end"
			}
		}
		list = append(list, l)
	}
	return list
}

func percent(share float64) string { return unit(100*share) + "%" }
