package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/fleet"
	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/view"
	"reprise/rewrite"
	"reprise/shim"
)

// checkStore checks the store that machines share, if one is configured.
func checkStore(a *app.App, cfg config.Config) []setup.Check {
	s, err := config.ResolveStore(a.Getenv, cfg)
	if err != nil {
		return []setup.Check{setup.Problem("store", err.Error(), "correct the variable, or unset it")}
	}
	if s.URL == "" {
		return nil
	}
	helper := checkStoreHelper(a)
	checks := []setup.Check{helper}
	if helper.Result == "problem" {
		return checks
	}
	s.Timeout = max(s.Timeout, 5*time.Second) // a slow store is still worth a look
	checks = append(checks, checkStoreItself(a, cfg, s)...)
	return append(checks, checkStoreProject(s))
}

// checkStoreHelper checks that the helper is there, and of this version.
func checkStoreHelper(a *app.App) setup.Check {
	const name = "store helper"
	path := shim.StoreHelper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.Env = a.Environ
	out, err := cmd.Output()
	switch said := strings.TrimSpace(string(out)); {
	case err != nil:
		return setup.Problem(name, fmt.Sprintf("%s cannot be run, so nothing is shared: %v", a.Tilde(path), errors.Unwrap(err)), app.MissingHelperHint)
	case said != "reprise-store "+config.Version:
		return setup.Problem(name, fmt.Sprintf("%s is %q, shimctl is %s", a.Tilde(path), said, config.Version), app.MissingHelperHint)
	}
	return setup.OK(name, a.Tilde(path))
}

// checkStoreItself asks the store.
func checkStoreItself(a *app.App, cfg config.Config, s config.Store) []setup.Check {
	key := setup.OK("store key", "REPRISE_STORE_KEY")
	if s.Key == "" && s.KeyFile != "" {
		key.Finds = a.Tilde(s.KeyFile)
	}
	ctx, cancel := app.Within(s.Timeout)
	defer cancel()
	client, err := app.OpenStore(a, s)
	if err == nil {
		defer client.Close()
		_, err = client.Hello(ctx)
	}
	if errors.Is(err, store.ErrKey) {
		return []setup.Check{setup.Problem(key.Name, a.TildeIn(shim.StoreError(err, s))+"; nothing is shared", app.StoreHint(err))}
	}
	var r wire.Report
	if err == nil {
		r, err = client.Test(ctx)
	}
	if err != nil {
		return []setup.Check{key, setup.Problem("store", s.Shown()+": "+shim.StoreError(err, s), app.StoreHint(err))}
	}
	reach := setup.OK("store", fmt.Sprintf("%s answers in %s, keeps conditions on writes, tested %s", s.Shown(), view.Duration(r.Latency),
		r.Tested.UTC().Format(time.DateOnly)))
	if r.Latency > s.Timeout/4 {
		reach.Result, reach.Fix = "note", "raise timeout under [store]: a call asks several times before it runs"
	}
	if open := openTo(s.URL); open != "" && reach.Result == "ok" {
		reach.Result, reach.Finds, reach.Fix = "note", reach.Finds+"; "+open, "use an endpoint with https"
	}
	checks := []setup.Check{reach, checkStoreKey(key, r)}
	if r.KnowExpiry {
		checks = append(checks, checkStoreExpiry(cfg, r))
	}
	return append(checks, checkStorePaths(a, ctx, client, s)...)
}

// openTo returns what somebody between this machine and the store can do, "" for nothing.
func openTo(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return ""
	}
	endpoint, err := url.Parse(u.Query().Get("endpoint"))
	if err != nil || endpoint.Scheme != "http" {
		return ""
	}
	host := endpoint.Hostname()
	if ip := net.ParseIP(host); host == "" || host == "localhost" || ip != nil && ip.IsLoopback() {
		return ""
	}
	return "somebody between here and " + host + " could read and change what is sent"
}

// checkStoreKey compares the key with the store's.
func checkStoreKey(c setup.Check, r wire.Report) setup.Check {
	switch {
	case r.OtherKeys > 0 && r.Registers == 0:
		return setup.Problem(c.Name, fmt.Sprintf("%s opens none of the store's %s", c.Finds, view.Count(int64(r.OtherKeys), "register")),
			"give all machines the same key, or this project a prefix of its own in the URL")
	case r.OtherKeys > 0:
		return setup.Note(c.Name, fmt.Sprintf("%s opens %s; %d more are sealed with other keys or damaged", c.Finds, view.Count(int64(r.Registers), "register"), r.OtherKeys),
			"after a change of the key, list the old one behind the new one until its registers are gone")
	}
	return setup.OK(c.Name, c.Finds+" opens all registers that were looked at")
}

// checkStoreExpiry checks that unused entries are removed in time, and not too early.
func checkStoreExpiry(cfg config.Config, r wire.Report) setup.Check {
	const name = "store expiry"
	_, maxAge := cfg.Longest()
	days := view.Count(int64(r.Expiry/(24*time.Hour)), "day")
	switch {
	case r.Expiry == 0:
		return setup.Note(name, "the store removes nothing that is not used", "add a lifecycle rule that expires it some days after max_age, or run shimctl prune --store")
	case r.Expiry < maxAge:
		return setup.Problem(name, "the store removes after "+days+" what max_age would have resumed", "lengthen the lifecycle rule, or shorten max_age")
	}
	return setup.OK(name, "the store removes after "+days+" what is not used")
}

// checkStoreProject checks that the working directory's project has a name.
func checkStoreProject(s config.Store) setup.Check {
	if dir, err := os.Getwd(); err == nil {
		if name := shim.ProjectName(dir, s); name != "" {
			return setup.OK("store project", name)
		}
	}
	return setup.Note("store project", "the project of the working directory has no name: its calls are not shared",
		"set REPRISE_PROJECT to the same name on all machines, or add the repository's origin")
}

// checkStorePaths compares the home and the working directory with those of the project's sessions in the store: a
// session is resumed only where both are the same.
func checkStorePaths(a *app.App, ctx context.Context, client *wire.Client, s config.Store) []setup.Check {
	dir, err := os.Getwd()
	project := shim.ProjectName(dir, s)
	if err != nil || project == "" {
		return nil
	}
	registers, _ := client.Registers(ctx, store.Task)
	more, _ := client.Registers(ctx, store.Opening) // those that arrive in time are enough
	registers = slices.DeleteFunc(append(registers, more...), func(r store.Register) bool { return len(r.Name.Of) == 0 || r.Name.Of[0] != project })
	sessions := fleet.Sessions(registers)
	if len(sessions) == 0 {
		return nil
	}
	const name = "store paths"
	homes, dirs, sameHome, samePlace := map[string]int{}, map[string]int{}, 0, 0
	for _, one := range sessions {
		if resolved(rewrite.Home(one.Tool, a.Getenv)) != one.Home {
			homes[one.Home]++
		} else if sameHome++; one.Cwd != resolved(dir) {
			dirs[one.Cwd]++
		} else {
			samePlace++
		}
	}
	switch {
	case sameHome == 0:
		return []setup.Check{setup.Note(name, fmt.Sprintf("the sessions of %s are from other homes, as %s: they are not resumed here", project, mostOf(homes)),
			"use the same HOME on all machines")}
	case samePlace == 0:
		return []setup.Check{setup.Note(name, fmt.Sprintf("the sessions of %s are from %s: they are not resumed in %s", project, mostOf(dirs), dir),
			"check the project out at the same path on all machines")}
	}
	return []setup.Check{setup.OK(name, "sessions of "+project+" are from this directory and home")}
}

// resolved returns a path without symbolic links.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// mostOf returns the key with the highest count, the first by name of several.
func mostOf(counts map[string]int) string {
	return slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int { return counts[a] - counts[b] })
}
