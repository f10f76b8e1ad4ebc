package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"reprise/config"
	"reprise/fleet"
	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A sharing is a call's connection with the store that shares the sessions.
type sharing struct {
	settings config.Store
	project  string
	client   *wire.Client
	book     *fleet.Book // nil until the helper has said the key for digests
	err      error       // why the store is not used: nothing that is shared is resumed
}

// share starts the helper of the store that shares the call's sessions, if there is one. The
// helper connects while the call reads the prompt.
func (c *call) share(cwd string) {
	settings, err := config.ResolveStore(c.env.Get, c.config)
	if err != nil {
		c.log.fault("read store", err)
		c.unshared = err.Error()
		return
	}
	if c.shared != nil || !c.shareable(settings) {
		return
	}
	name := ProjectName(cwd, settings)
	if name == "" {
		c.notShared("the project has no name: neither REPRISE_PROJECT nor an origin with a URL says it")
		return
	}
	c.shared = &sharing{settings: settings, project: name}
	if c.storeDown(settings, c.env.Now()) {
		c.shared.err = fmt.Errorf("%w: it could not be reached a moment ago", store.ErrUnreachable)
		return
	}
	c.shared.client, err = OpenStore(settings, c.env.Environ)
	if err != nil {
		c.leaveStore(err)
	}
}

// notShared notes why a call's session is not shared, although there is a store.
func (c *call) notShared(why string) {
	c.unshared = why
	c.log.notShared(why)
}

// shareable reports whether other machines could go on with the call's session.
func (c *call) shareable(settings config.Store) bool {
	switch {
	case settings.URL == "" || c.parsed.Mode != rewrite.Fresh:
		return false
	case settings.Key == "" && settings.KeyFile == "":
		c.notShared("the store has no key: neither REPRISE_STORE_KEY nor a file with it is set")
	case !c.tool.Descriptor().Travels:
		c.notShared("it is not known that the tool resumes a session on another machine")
	case c.real.version() == "":
		c.notShared("the tool's version is not known")
	default:
		return true
	}
	return false
}

// book returns where the chains of the call are kept.
func (c *call) book() ledger.Book {
	if c.shared == nil || c.shared.err != nil || c.staysHere() {
		return c.ledger
	}
	if c.shared.book == nil {
		if err := c.openBook(); err != nil {
			c.leaveStore(err)
			return c.ledger
		}
	}
	return c.shared.book
}

// staysHere reports whether the call's session is of no use to others. Other roles end a role's sessions, and find
// those of a store only by their task.
func (c *call) staysHere() bool {
	return c.record != nil && (c.record.Never || c.record.Task == "" && c.record.Role != "")
}

func (c *call) openBook() error {
	ctx, cancel := context.WithTimeout(context.Background(), c.shared.settings.Timeout)
	defer cancel()
	digests, err := c.shared.client.Hello(ctx)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	place := c.ledger.Key().Digester()("place " + directoryID(c.record.Cwd))
	c.shared.book = &fleet.Book{
		Local: c.ledger, Registers: c.shared.client, Bundles: c.shared.client, Digests: digests,
		Project: c.shared.project, Host: host, Place: fmt.Sprintf("%x", place),
		Timeout: c.shared.settings.Timeout, Upload: c.shared.settings.UploadTimeout,
	}
	return nil
}

// isShared reports whether a store decides on the call.
func (c *call) isShared() bool { return c.book() != ledger.Book(c.ledger) }

// leaveStore goes on without the store: the call is fresh, and if the store cannot be used at all,
// the calls of the next moment do not try.
func (c *call) leaveStore(err error) {
	c.shared.err = err
	c.log.fault("use the store", err)
	for _, lasting := range []error{store.ErrUnreachable, store.ErrDenied, store.ErrNoStore, store.ErrUnsafe, store.ErrUnknown} {
		if errors.Is(err, lasting) && !c.preview {
			c.noteStoreDown(c.shared.settings, c.env.Now(), err)
			return
		}
	}
}

// restore brings the files of the session that the call resumes from the store. It returns why the
// resume must be abandoned, "" if it need not be.
func (c *call) restore() reason.Code {
	if !c.decision.Mode.Continues() || !c.isShared() {
		return ""
	}
	if err := os.MkdirAll(c.record.Home, 0o700); err != nil {
		c.log.fault("make the tool's home", err)
		return reason.StoreUnavailable
	}
	ctx, cancel := c.waitForStore()
	defer cancel()
	why, err := c.shared.book.Restore(ctx, c.ticket, func(id, file string) []string { return travels(c.tool, c.record.Home, id, file) })
	if err != nil {
		c.log.fault("bring session from the store", err)
	}
	return why
}

// waitForStore returns a context that ends after UploadTimeout, or when a signal asks for the call's end.
func (c *call) waitForStore() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), c.shared.settings.UploadTimeout)
	go func() {
		select {
		case <-c.signals.Ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// travels returns which of a session's files other machines need, relative to the tool's home.
func travels(tool rewrite.Tool, home, id, file string) []string {
	files, ok := rewrite.FilesOf(tool, home, id, file)
	if !ok {
		return nil
	}
	paths := slices.Clone(files.Paths)
	for _, pattern := range files.Common {
		paths = append(paths, store.Common+pattern)
	}
	return paths
}

// renewHold tells the store from time to time that the call still runs.
func (c *call) renewHold() {
	if !c.isShared() {
		return
	}
	go func() {
		for range time.Tick(fleet.RenewEvery) {
			if err := c.shared.book.Renew(c.ticket, decide.MillisOf(c.env.Now())); err != nil {
				c.log.fault("renew the hold in the store", err)
			}
		}
	}()
}

// leaves completes an outcome with the facts that the store needs: which files the session has, and the
// directory's content, which is found out while they are packed.
func (c *call) leaves(o *ledger.Outcome) {
	if !c.isShared() {
		return
	}
	if o.File != "" {
		o.Paths = travels(c.tool, c.record.Home, o.Seen.ID, o.File)
	}
	o.Tree = func() string { return checkoutTree(c.record.Cwd, c.env.Environ) }
}

// fallBack records that a resume is abandoned.
func (c *call) fallBack(why reason.Code) {
	c.log.refused(c.decision, why)
	if err := c.abandon(why); err != nil {
		c.log.fault("record refusal", err)
	}
}

// abandon is FallBack within the ledger's time. A store has limits of its own.
func (c *call) abandon(why reason.Code) error {
	if c.isShared() {
		return c.book().FallBack(c.ticket, why)
	}
	ticket := *c.ticket // work that is left behind goes on with it
	_, err := inTime(c, func() (none struct{}, err error) { return none, c.ledger.FallBack(&ticket, why) })
	if errors.Is(err, errSlow) {
		c.ticket.GiveUp(why)
	} else {
		c.ticket = &ticket
	}
	return err
}

// whyUnshared returns why the call's session is not shared, although there is a store; "" if it is, or there is none.
func (c *call) whyUnshared() string {
	if c.shared != nil && c.shared.err != nil {
		return StoreError(c.shared.err, c.shared.settings)
	}
	return c.unshared
}
