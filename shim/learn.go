package shim

import (
	"cmp"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/shim/binary"
)

// learn returns the options that the real binary's help names. Each binary is run once for
// that; the ledger keeps the answer.
func (c *call) learn() rewrite.Probe {
	if _, err := c.target(); err != nil {
		return rewrite.Probe{}
	}
	if c.openLedger() != "" {
		return rewrite.Probe{} // without a ledger every call would run --help
	}
	// A version manager's shim is one file for all tools.
	fingerprint := c.real.Fingerprint()
	known, err := c.knownBinary(fingerprint)
	if err != nil {
		c.log.fault("read what is known of the binary", err)
		return rewrite.Probe{}
	}
	if known.Probed {
		return known.Probe
	}
	probe := binary.Ask(c.tool, c.real.Path, c.env.Environ)
	asks := c.tool.Descriptor().AsksVersion
	if asks {
		probe.Version = binary.Version(c.real.Path, c.env.Environ)
	}
	if c.preview || asks && probe.Version == "" { // it might have been too slow: the next call asks again
		return probe
	}
	c.learnBinary(fingerprint, func(b *ledger.Binary) { b.Probed, b.Probe = true, probe })
	return probe
}

// knownBinary reads the ledger's row of a binary.
func (c *call) knownBinary(fingerprint string) (ledger.Binary, error) {
	return inTime(c, func() (ledger.Binary, error) { return c.ledger.Binary(c.name, fingerprint) })
}

// learnBinary records the facts that the call has shown of the binary.
func (c *call) learnBinary(fingerprint string, add func(*ledger.Binary)) {
	path, version, now := c.real.Path, c.real.Version(), decide.MillisOf(c.env.Now())
	_, err := inTime(c, func() (none struct{}, err error) {
		return none, c.ledger.LearnBinary(c.name, fingerprint, now, func(b *ledger.Binary) {
			b.Path, b.Version = path, cmp.Or(b.Version, version)
			add(b)
		})
	})
	if err != nil {
		c.log.fault("keep what is known of the binary", err)
	}
}
