package decide

// Rounds are the latest resumed rounds of a session in a row that were given the same.
type Rounds struct {
	Count int    `json:"count,omitempty"`
	Given string `json:"given,omitempty"` // a digest of the text that their prompts added
	// git's name of the directory's content before the latest of them, "" if not known
	Tree string `json:"tree,omitempty"`
}

// enoughRounds is how many rounds without progress a session might have.
const enoughRounds = 2

// rounds returns the session's rounds up to and including the call. They are stuck if all were
// given the same, and the latest has changed no file. The directory is looked at only if the
// session changes files and is given the same again.
func (f *Facts) rounds(c *ChainFacts) (rounds Rounds, stuck bool) {
	if f.Given == nil {
		return Rounds{}, false
	}
	given, earlier := f.Given(c.Continuity), c.Rounds
	if earlier.Count == 0 || earlier.Given != given {
		return Rounds{Count: 1, Given: given}, false
	}
	tree := ""
	if c.Changes() {
		tree = f.Tree()
	}
	stuck = earlier.Count >= enoughRounds && tree != "" && earlier.Tree == tree
	return Rounds{Count: earlier.Count + 1, Given: given, Tree: tree}, stuck
}
