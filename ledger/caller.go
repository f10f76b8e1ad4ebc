package ledger

// A Caller is the processes above a call that may have made it, the nearest first, up to a person's
// shell or terminal or a service manager.
type Caller struct {
	Processes []CallerProcess
}

// A CallerProcess is one of them.
type CallerProcess struct {
	Process
	Name string // of its program or script, without directory
}

// String encodes the caller for the ledger.
func (c Caller) String() string { return "" }

// parseCaller decodes it. What cannot be read is no caller.
func parseCaller(text string) Caller { return Caller{} }

// common returns the nearest process that made both calls, ok reports whether there is one.
func (c Caller) common(earlier Caller) (p CallerProcess, ok bool) { return CallerProcess{}, false }

// sameAs reports whether the same run of a program made a call and an earlier one, whose run ended idle
// milliseconds before, and returns its name.
func (c Caller) sameAs(earlier Caller, idle Millis) (name string, ok bool) { return "loop", true }
