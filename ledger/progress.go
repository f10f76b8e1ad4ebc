package ledger

import (
	"encoding/hex"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// givenSize is how many bytes of a digest Rounds.Given has.
const givenSize = 8

// watchRounds completes the decision to continue a session by what its rounds were given. Only if the latest one was given
// what this call gives does it ask for the directory's content, and decides again: git takes longer than everything else.
func (c *Call) watchRounds(f decide.Facts, chosen *decide.ChainFacts, d decide.Decision) decide.Decision {
	if c.Tree == nil || d.Reason == reason.StartedFrom {
		return d
	}
	given := c.Prompt.Given(chosen.Continuity)
	chosen.Given = hex.EncodeToString(given[:givenSize])
	if chosen.Changes() && chosen.Rounds.Repeated(chosen.Given) {
		chosen.TreeNow = c.Tree()
		if d = decide.Decide(f); !d.Mode.Continues() {
			return d
		}
	}
	d.Rounds = chosen.Rounds.And(chosen.Given, chosen.TreeNow)
	return d
}
