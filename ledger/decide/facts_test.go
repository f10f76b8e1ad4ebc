package decide

// lostCopies makes so many copies of the session that lost their shim. Others have failed before.
func lostCopies(lost, failed int) func(*Facts) {
	return func(f *Facts) {
		f.Copies = true
		f.Chains[0].Errors = failed
		for n := range lost {
			c := f.Chains[0]
			c.Session, c.Parent, c.State, c.Errors = int64(9+n), 8, Running, 0
			f.Chains = append([]ChainFacts{c}, f.Chains...)
		}
	}
}
