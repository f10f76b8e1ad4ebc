// Package prices knows the list prices of tokens. Only shimctl uses it; no decision depends on a
// price.
//
// It never guesses: if a model, a day or a rate is not in the table, the price is not known. The
// invariant: amounts are whole nano-dollars.
package prices

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/models"

	"github.com/BurntSushi/toml"
)

//go:embed prices.toml
var embedded string

// Rates are dollars per million tokens of each kind; nil if not known.
type Rates struct {
	Input  *float64 `toml:"input"`
	Cached *float64 `toml:"cached"`
	Write  *float64 `toml:"write"`
	Output *float64 `toml:"output"`
}

// A Price is the price of a model's tokens from a day on.
type Price struct {
	Model string    `toml:"model"`
	Since time.Time `toml:"since"` // the zero time if the start is not known
	Rates
	Long   Long   `toml:"long"`
	Source string `toml:"source"`
}

// Long are the rates of a whole request with a prompt, cached or not, of more than Above tokens. If
// Above is 0 there are none.
type Long struct {
	Above int64 `toml:"above"`
	Rates
}

// A List contains prices.
type List struct{ prices []Price }

// Load returns the built-in table. For the models in override, which has the same format, it
// returns override's prices instead. file names override in errors.
func Load(file, override string) (*List, error) {
	own, err := parse("prices.toml", embedded)
	if err != nil {
		return nil, err
	}
	theirs, err := parse(file, override)
	if err != nil {
		return nil, err
	}
	own = slices.DeleteFunc(own, func(p Price) bool {
		return slices.ContainsFunc(theirs, func(o Price) bool { return o.Model == p.Model })
	})
	return &List{append(theirs, own...)}, nil
}

func parse(file, text string) ([]Price, error) {
	var list struct {
		Price []Price `toml:"price"`
	}
	meta, err := toml.Decode(text, &list)
	if err != nil {
		return nil, fmt.Errorf("read prices: %s: %w", file, err)
	}
	var wrong []error
	for _, key := range meta.Undecoded() {
		wrong = append(wrong, fmt.Errorf("read prices: %s: there is no key %s", file, key))
	}
	for i, p := range list.Price {
		if !p.Since.IsZero() { // TOML's dates are local ones
			list.Price[i].Since = time.Date(p.Since.Year(), p.Since.Month(), p.Since.Day(), 0, 0, 0,
				0, time.UTC)
		}
		problem := func(says string) {
			wrong = append(wrong, fmt.Errorf("read prices: %s:%d: %s", file, priceLine(text, i),
				says))
		}
		if p.Model == "" {
			problem("a price has no model")
		}
		for _, rate := range append(p.all(), p.Long.all()...) {
			if rate != nil && !(*rate >= 0 && *rate < 100_000) {
				problem(fmt.Sprintf("%s: %v is no price", p.Model, *rate))
			}
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return list.Price, nil
}

var priceHead = regexp.MustCompile(`(?m)^[ \t]*\[\[price\]\]`)

// priceLine returns the number of the line where the price of that index begins. The library keeps
// no place of a table.
func priceLine(text string, index int) int {
	before := priceHead.Split(text, index+2)
	return 1 + strings.Count(strings.Join(before[:min(index+1, len(before))], ""), "\n")
}

func (r Rates) all() []*float64 { return []*float64{r.Input, r.Cached, r.Write, r.Output} }

// Find returns the price of a model at a time. ok is false if it is not known.
func (t *List) Find(model string, at time.Time) (p Price, ok bool) {
	name := models.Name(model)
	for _, candidate := range t.prices {
		if (candidate.Model == model || candidate.Model == name) && !candidate.Since.After(at) &&
			(!ok || candidate.Since.After(p.Since)) {
			p, ok = candidate, true
		}
	}
	return p, ok
}

// LongPrompt returns the least number of prompt tokens that some model has other rates from.
func (t *List) LongPrompt() int64 {
	shortest := int64(math.MaxInt64)
	for _, p := range t.prices {
		if p.Long.Above > 0 {
			shortest = min(shortest, p.Long.Above)
		}
	}
	return shortest
}

// Cost returns the price in nano-dollars. ok is false if a rate that it needs is not known.
func (r Rates) Cost(u rewrite.Usage) (nano int64, ok bool) {
	var total float64
	for i, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.Output} {
		rate := r.all()[i]
		if n == 0 {
			continue
		}
		if rate == nil {
			return 0, false
		}
		total += float64(n) * *rate * 1000
	}
	return int64(math.Round(total)), true
}
