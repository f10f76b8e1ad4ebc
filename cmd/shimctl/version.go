package main

import (
	"fmt"

	"reprise/config"
)

var versionCommand = command{
	name: "version", short: "name this build",
	long: "Prints the version and, where it is known, the commit that shims and shimctl were built from.",
	run: func(a *app, args []string) error {
		if len(args) > 0 {
			return usageError{"version takes no arguments", ""}
		}
		fmt.Fprintln(a.stdout, version())
		return nil
	},
}

func version() string {
	if config.Commit == "" {
		return "reprise " + config.Version
	}
	return fmt.Sprintf("reprise %s (%s)", config.Version, config.Commit)
}
