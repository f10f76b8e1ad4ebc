package decide

// Rounds are the latest resumed rounds of a session in a row that were given the same.
type Rounds struct {
	Count int    `json:"count,omitempty"`
	Given string `json:"given,omitempty"` // a digest of the text that their prompts added
	// git's name of the directory's content before the latest of them, "" if not known
	Tree string `json:"tree,omitempty"`
}

// Repeated reports whether a call gives the session the input of the latest round again.
func (r Rounds) Repeated(given string) bool { return r.Count > 0 && r.Given == given }

// And returns the rounds up to and including a call.
func (r Rounds) And(given, tree string) Rounds {
	if !r.Repeated(given) {
		return Rounds{Count: 1, Given: given}
	}
	return Rounds{Count: r.Count + 1, Given: given, Tree: tree}
}

// rounds returns the session's rounds up to and including the call, and whether they are stuck. The
// directory is looked at only if the session changes files and is given the same again.
func (f *Facts) rounds(c *ChainFacts) (rounds Rounds, stuck bool) {
	if f.Given == nil {
		return Rounds{}, false
	}
	given, tree := f.Given(c.Continuity), ""
	if c.Changes() && c.Rounds.Repeated(given) {
		tree = f.Tree()
	}
	return c.Rounds.And(given, tree), c.Rounds.stuck(given, tree)
}

// enoughRounds is how many rounds without progress a session might have.
const enoughRounds = 2

// stuck reports whether these rounds and the call were given the same, and the latest round has
// changed no file.
func (r Rounds) stuck(given, tree string) bool {
	return r.Count >= enoughRounds && r.Repeated(given) && tree != "" && r.Tree == tree
}
