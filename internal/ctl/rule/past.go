package rule

import (
	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/replay"
	"reprise/rewrite/prompt"
)

// A Past is the fresh calls since a time that no rule named, at most the latest 20 000: those for which rules are proposed, and on
// which they are tried.
type Past struct {
	config config.Config
	ledger *ledger.Ledger
	since  decide.Millis
	calls  []*ledger.FreshCall // in the order in which they began
}

// ReadPast reads the calls since a time.
func ReadPast(a *app.App, l *ledger.Ledger, since decide.Millis) (*Past, error) {
	calls, err := l.FreshCalls(since)
	return &Past{a.Configured(), l, since, calls}, err
}

// Templates returns what calls have in common that a rule could have named. The most useful come first.
func (p *Past) Templates() []replay.Template {
	return replay.Templates(p.calls, naming(p.config.Policy))
}

// maxSent is how many calls of a tool in a directory are looked at for a rule, the latest.
const maxSent = 200

// sentLike returns the calls of the same tool in the same directory whose prompts are known, the latest last.
func (p *Past) sentLike(tool, cwd string) (list []sentCall) {
	var calls []*ledger.FreshCall
	for _, c := range p.calls {
		if c.Tool == tool && c.Cwd == cwd {
			calls = append(calls, c)
		}
	}
	for _, c := range calls[max(0, len(calls)-maxSent):] {
		if sent := promptOf(*c, p.ledger.Key()); sent != nil {
			list = append(list, sentCall{FreshCall: *c, prompt: sent})
		}
	}
	findOpenings(list, p.ledger.Key())
	return list
}

// nameBy returns the name of the rule that matches a call by now, "" for none. sent is its prompt, nil if that is not known.
func (p *Past) nameBy(tool, cwd string, sent *prompt.Prompt) string {
	call := config.Subject{Tool: tool, Cwd: cwd, Env: func(string) string { return "" }}
	if sent != nil {
		call.Prompt = sent.Text
	}
	return p.config.Match(call).Name
}
