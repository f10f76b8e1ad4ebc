package decide

import "reprise/rewrite/reason"

// difference returns why a session no longer fits a call, and the names of the changes.
func difference(f Facts, c *ChainFacts) (reason.Code, []string) {
	if c.Fingerprints.Model != f.Fingerprints.Model {
		return reason.ModelChanged, nil
	}
	if code, names := c.Fingerprints.Settings.differ(f.Fingerprints.Settings, reason.SettingsChanged); code != "" {
		return code, names
	}
	if c.Fingerprints.Runtime != f.Fingerprints.Runtime {
		return reason.RuntimeChanged, nil
	}
	if code, names := c.Fingerprints.Auth.differ(f.Fingerprints.Auth, reason.AuthChanged); code != "" {
		return code, names
	}
	switch {
	case c.Revision.Repository != f.Revision.Repository:
		return reason.DirectoryReplaced, []string{"git repository"}
	case c.Revision.Branch != f.Revision.Branch:
		return reason.BranchChanged, nil
	case c.History != "":
		return c.History, nil
	case c.CheckoutDiffers:
		return reason.CheckoutDiffers, nil
	case c.WorkGone:
		return reason.WorkGone, nil
	}
	return "", nil
}
