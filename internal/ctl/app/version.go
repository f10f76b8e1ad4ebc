package app

import (
	"fmt"

	"reprise/config"
)

func Version() string {
	if config.Commit == "" {
		return "reprise " + config.Version
	}
	return fmt.Sprintf("reprise %s (%s)", config.Version, config.Commit)
}
