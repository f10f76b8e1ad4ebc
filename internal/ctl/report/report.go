// Package report writes one page about cost and saving, with three pictures.
//
// It never writes to the ledger. Invariant: a figure on the page is the figure that status and
// stats print.
package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
)

const reportFile = "reprise-report.html"

// Command returns `shimctl report`.
func Command(a *app.App) *cobra.Command {
	var file string
	var f app.FilterFlags
	c := &cobra.Command{
		Use: "report", Short: "write a page with pictures of cost and saving",
		Long: `Writes one self-contained HTML page, by default into ` + reportFile + `: the saving, the price by day
with and without resuming, the calls of a chain, and where the calls went. It contains no prompt, but names of
tasks and directories.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return write(a, file, f) },
	}
	c.Flags().StringVarP(&file, "output", "o", reportFile, "write the page to `FILE`, - for stdout")
	f = app.FilterFlag(c)
	return c
}

//go:embed page.html
var text string

var page = template.Must(template.New("page").Parse(text))

func write(a *app.App, file string, flags app.FilterFlags) error {
	return a.WithLedger(func(l *ledger.Ledger, r view.Reporter) error {
		asked, err := app.Filter(a, l, flags)
		if err != nil {
			return err
		}
		f, err := a.Summed(l, asked)
		if err != nil {
			return err
		}
		s, err := read(l, f, r)
		if err != nil {
			return err
		}
		if s.bill.Calls == 0 && asked != (history.Filter{}) {
			return app.WithHint(errors.New(app.NoCallMade(f)),
				"shimctl log lists the last calls, shimctl stats --by day the days")
		}
		var out bytes.Buffer
		if err := page.Execute(&out, newContent(a, r, f, s)); err != nil {
			return err
		}
		if file == "-" {
			_, err = a.Stdout.Write(out.Bytes())
		} else if err = textfile.Replace(file, 0o600, out.Bytes()); err == nil {
			a.Stderr.Notice("wrote " + a.Tilde(file) + ": " + view.Count(s.bill.Calls,
				"managed call"))
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
		return nil
	})
}

type sums struct {
	managed []history.Slice // by day
	bill    view.Bill
	saved   saving.Saving
	chain   history.ChainRow // the chain with the most resumed calls, of those used last
	calls   []ledger.Record
}

// Limits of the chain's picture.
const (
	mostChains = 50
	mostCalls  = 30
)

func read(l *ledger.Ledger, f history.Filter, r view.Reporter) (s sums, err error) {
	all, err := history.Slices(l, f, r.Prices.LongPrompt())
	if err != nil {
		return s, err
	}
	s.bill, s.saved = r.Bill(all), saving.New(all, r.ListPrice)
	s.managed = slices.DeleteFunc(all, func(slice history.Slice) bool { return !slice.Managed() })
	chains, err := history.Chains(l, history.Query{Filter: f, Limit: mostChains})
	if err != nil {
		return s, err
	}
	for _, c := range chains {
		if c.Resumed > s.chain.Resumed {
			s.chain = c
		}
	}
	if s.chain.Resumed > 0 {
		f.Chain = s.chain.ID
		s.calls, err = history.LatestCalls(l, history.Query{Filter: f, Limit: mostCalls})
	}
	return s, err
}

// A content is the page's text and pictures.
type content struct {
	Subtitle, Headline, Footer string
	Facts                      []fact
	Pictures                   []picture
}

type fact struct{ Name, Value, About string }

type picture struct {
	Title, About string
	Key          []bar
	Rows         []barRow
}

type barRow struct {
	Name, Text string
	Bars       []bar
}

// A bar is a part of the longest bar of the picture, in percent.
type bar struct {
	Name, Class string
	Width       float64
	amount      float64
}

func newContent(a *app.App, r view.Reporter, f history.Filter, s sums) content {
	c := content{Footer: fmt.Sprintf("Made by %s at %s. Days are in UTC.", app.Version(),
		a.Now.UTC().Format(view.MinuteFormat)),
		Subtitle: app.CallsSince(f.Since)}
	if len(s.managed) == 0 {
		c.Headline = "No managed call has been made."
		return c
	}
	c.Headline = view.Sentence(s.saved.Headline())
	c.Facts = []fact{
		{"managed calls", view.Thousands(s.bill.Calls),
			fmt.Sprintf("%s resumed, %s fresh", view.Thousands(s.bill.Resumed),
				view.Thousands(s.bill.Fresh()))},
		{"cost", s.bill.Total.Human(), "of " + view.Thousands(s.bill.HasPrice()) + " of them"},
		{"saved cost", view.Amount("nano_usd", s.saved.Cost.Saved), s.saved.Words()},
		{"saved tokens", view.Amount("tokens", s.saved.Tokens.Saved),
			"weighted by price; " + s.saved.Words()},
		{"from the cache", view.Amount("share", view.CacheRate(s.bill.Sums)),
			"of the tokens that models read"},
	}
	c.Pictures = []picture{days(s), classes(s.managed)}
	if len(s.calls) > 1 {
		c.Pictures = slices.Insert(c.Pictures, 1, chain(a, r, s))
	}
	for _, p := range c.Pictures {
		scale(p.Rows)
	}
	return c
}

func scale(rows []barRow) {
	most := 0.0
	for _, r := range rows {
		for _, b := range r.Bars {
			most = max(most, b.amount)
		}
	}
	for _, r := range rows {
		for i := range r.Bars {
			if most > 0 {
				r.Bars[i].Width = 100 * max(0, r.Bars[i].amount) / most
			}
		}
	}
}

// mostDays is the number of days that get a row each. More are drawn as weeks, or several weeks.
const mostDays = 31

const dayLength = decide.Millis(24 * 60 * 60 * 1000)

// days draws the price of each day, with and without resuming. Without any price it draws weighted
// tokens.
func days(s sums) picture {
	figure, title := saving.Cost, "Price by day"
	if !s.bill.Total.Known {
		figure, title = saving.Tokens, "Weighted tokens by day"
	}
	first := s.managed[0].Day
	width := dayLength
	for (s.managed[len(s.managed)-1].Day-first)/width >= mostDays {
		width = max(7*dayLength, width+7*dayLength) / (7 * dayLength) * (7 * dayLength)
	}
	p := picture{Title: title,
		About: "The whole estimate is distributed over the days: a single day is no measurement.",
		Key: []bar{{Name: "estimate without resuming", Class: "without", Width: 100},
			{Name: "with resuming", Class: "with", Width: 100}}}
	with, without := map[decide.Millis]float64{}, map[decide.Millis]float64{}
	for _, slice := range s.managed {
		at := first + (slice.Day-first)/width*width
		used, share := s.saved.Share(figure, slice)
		with[at] += used
		without[at] += used + share
	}
	for _, at := range slices.Sorted(maps.Keys(with)) {
		name := at.Time().Format(time.DateOnly)
		if width > dayLength {
			name = "from " + name
		}
		p.Rows = append(p.Rows, barRow{Name: name,
			Text: view.Amount(figure.Unit, view.Number(with[at])) + " instead of " +
				view.Amount(figure.Unit, view.Number(max(0, without[at]))),
			Bars: []bar{{Class: "without", amount: without[at]},
				{Class: "with", amount: with[at]}}})
	}
	return p
}

// modes is the key of pictures of calls.
var modes = []bar{{Name: "fresh", Class: "fresh", Width: 100},
	{Name: "resumed", Class: "resume", Width: 100}}

// chain draws the calls of the chain, the earliest first.
func chain(a *app.App, r view.Reporter, s sums) picture {
	about := fmt.Sprintf("Chain c%d, %s in %s", s.chain.ID, s.chain.Tool, a.Tilde(s.chain.Cwd))
	if s.chain.Task != "" {
		about += ", task " + s.chain.Task
	}
	p := picture{Title: "A chain, call by call", About: view.Printable(about) + ".", Key: modes}
	for _, i := range slices.Backward(s.calls) {
		b := bar{Class: "fresh"}
		if i.Mode.Continues() {
			b.Class = "resume"
		}
		cost := view.CallCost(r.Prices, i)
		text := cost.Human()
		if b.amount = float64(cost.Nano); !cost.Known && i.Input.Valid {
			tokens := i.Input.Int64 + i.CacheRead.Int64 + i.CacheWrite.Int64 + i.Output.Int64
			text = view.ShortNumber(tokens) + " tokens"
		}
		p.Rows = append(p.Rows, barRow{Name: fmt.Sprintf("%d %s", i.ID, view.Decision(i)),
			Text: text, Bars: []bar{b}})
	}
	return p
}

// classes draws the number of calls by the class of the reason.
func classes(managed []history.Slice) picture {
	type kind struct {
		class   reason.Class
		resumed bool
	}
	count, all := map[kind]int64{}, int64(0)
	for _, s := range managed {
		count[kind{cmp.Or(s.FellBack, s.Reason).Class(), s.Mode.Continues()}] += s.Calls
		all += s.Calls
	}
	p := picture{Title: "Where the calls went",
		About: "By class of reason; shimctl why names the reason of a call.", Key: modes}
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b kind) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.class, b.class))
	})
	for _, k := range kinds {
		words, class := "fresh: ", "fresh"
		if k.resumed {
			words, class = "resumed: ", "resume"
		}
		p.Rows = append(p.Rows, barRow{Name: words + k.class.Words(),
			Bars: []bar{{Class: class, amount: float64(count[k])}},
			Text: fmt.Sprintf("%s, %s", view.Count(count[k], "call"),
				view.Amount("share", view.Rate(count[k], all)))})
	}
	return p
}
