package shim

import (
	"cmp"
	"os"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/binary"
	"reprise/shim/variables"
)

// target returns the real binary, and finds it on the first call.
func (c *call) target() (p binary.Program, err error) {
	c.search.Prefer(c.config.Tools[c.name].Path)
	if p, err = c.search.Program(); err == nil {
		c.real = p
	}
	return p, err
}

// passthrough becomes the real binary, with all of the caller's stdin. It returns only if that
// fails.
func (c *call) passthrough(why reason.Code) int {
	c.log.passthrough(why)
	c.printVerbose(rewrite.Passthrough, why)
	c.runSteps(func() reason.Code { return c.countPassed(why) })
	stdin, err := c.stdin.HandOn()
	if err != nil {
		return c.search.CannotRun(cmp.Or(c.failed, err)) // why it must be handed on at all, if that is a failure
	}
	c.book().close()
	return c.execReal(stdin)
}

// execReal becomes the real binary, without the store's variables.
func (c *call) execReal(stdin *os.File) int {
	c.search.Prefer(c.config.Tools[c.name].Path)
	return c.search.Become(variables.Unset(c.env.Environ), stdin)
}
