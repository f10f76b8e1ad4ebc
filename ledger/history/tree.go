package history

import "slices"

// Branches returns the copies of a session, or for "" the sessions with a source that is not among
// them.
func Branches(sessions []SessionRow, parent string) (branches []SessionRow) {
	for _, s := range sessions {
		known := s.Parent != "" && slices.ContainsFunc(sessions, func(o SessionRow) bool { return o.NativeID == s.Parent })
		if parent == "" && !known || parent != "" && s.Parent == parent {
			branches = append(branches, s)
		}
	}
	return branches
}

// Depth returns how much further in than these sessions the innermost of their copies stands.
func Depth(its, all []SessionRow) (deepest int) {
	for n := 0; n < len(its); n++ {
		copies := CopiesOf(its[n], all)
		if len(copies) == 1 {
			its = append(slices.Clone(its), copies[0])
		} else {
			deepest = max(deepest, min(1, len(copies))+Depth(copies, all))
		}
	}
	return deepest
}

// CopiesOf returns the copies of a session.
func CopiesOf(s SessionRow, all []SessionRow) []SessionRow {
	if s.NativeID == "" {
		return nil
	}
	return Branches(all, s.NativeID)
}
