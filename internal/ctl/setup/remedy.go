package setup

import (
	"fmt"
	"os"
	"slices"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup/shells"
)

// A remedy is what setup does about an alias or a function.
type remedy struct {
	Remove bool
	path   string // what tool.NAME.path must be then, "" if it may stay
	left   string // why it is left alone
}

// RemedyFor returns what setup does about an alias or a function that leads past PATH. Afterwards the name
// starts the same binary as before.
func RemedyFor(a *app.App, f ShellFacts, answer shells.Answer, finding shells.Finding) remedy {
	real := behind(a, f, answer, finding.Tool)
	switch {
	case finding.Path == "":
		return remedy{left: "what it starts is not known"}
	case !finding.Plain:
		return remedy{left: "it sets more than the path"}
	case !shells.Runnable(finding.Path) && real != "":
		return remedy{Remove: true}
	case !shells.Runnable(finding.Path):
		return remedy{left: "what it starts does not exist"}
	case slices.ContainsFunc(onPath(a, f, finding.Tool), func(path string) bool { return !sameFile(path, finding.Path) }):
		return remedy{left: "it starts another binary than the shim finds"}
	case real != "":
		return remedy{Remove: true}
	}
	return remedy{Remove: true, path: finding.Path}
}

func sameFile(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}

// adviceFor says what the user can do about an alias or a function that setup leaves alone.
func adviceFor(a *app.App, finding shells.Finding, real string) string {
	name := finding.Tool
	advice := fmt.Sprintf("start %s there by its name, not by a path", name)
	if finding.Kind == shells.Function {
		advice = fmt.Sprintf("write command %s there, not a path", name)
	}
	switch {
	case finding.Path != "" && !shells.Runnable(finding.Path) && real == "":
		return fmt.Sprintf("install %s, then run shimctl setup", name)
	case finding.Path == "" && real == "":
		return fmt.Sprintf("write path = \"/...\" under [tool.%s], with the path of the binary, and %s", name, advice)
	case finding.Path != "" && shells.Runnable(finding.Path) && !sameFile(real, finding.Path):
		return fmt.Sprintf("write path = %q under [tool.%s], and %s", a.Tilde(finding.Path), name, advice)
	}
	return advice
}
