package decide

// Lost returns how many copies of a session are lost: their shim was killed with its run, so their end was not
// recorded. The session is as it was, and is continued as after any kill.
func (f *Facts) Lost(session int64) (copies int) {
	for i := range f.Chains {
		if c := &f.Chains[i]; c.Parent == session && c.State == Running && !c.Held {
			copies++
		}
	}
	return copies
}
