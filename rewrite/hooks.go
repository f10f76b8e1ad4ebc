package rewrite

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Hooks are the commands that a tool runs because of a call. docs/reference/hooks.md lists the
// files that they are read from.
type Hooks struct {
	Prompt []string // hooks that are given the prompt
	Start  []string // hooks that run when a session starts; they can be in Prompt too
	// Sources are the words that the matcher of a start hook is compared with, in a new session and
	// in a resumed one. If there are none, a start hook is never the same in both.
	Sources []string
	// Code are members that name code, which can register any hook.
	Code []string
	// Off is the member that switches off all hooks but an administrator's, "" if there is none.
	Off string
	// Plugins is the member that lists plugins as NAME@MARKETPLACE, "" if there is none. Their
	// files are below plugins/cache/MARKETPLACE/NAME or installed-plugins/MARKETPLACE/NAME.
	Plugins string
}

// ReadHooks reads the call's settings files and hook files, except those that skip names. It notes
// whether the call has hooks that must see the whole prompt, or hooks that a resume would not run
// as a new session does.
func (c *CommandLine) ReadHooks(h Hooks, s HostEnv, skip func(path string) bool) {
	var files []parsedHooks
	for i, f := range slices.Concat(s.Settings, s.Hooks) {
		if skip == nil || !skip(f.Path) {
			files = append(files, parsedHooks{f, i < len(s.Settings), pluginOf(f.Path),
				parseSettings(f)})
		}
	}
	plugins, off := h.enabledPlugins(files)
	for _, f := range files {
		switch {
		case isOff(plugins, f), off && !isAdministrators(f.Path):
		case path.Base(f.Path) == "marketplace.json": // it can have hooks for each plugin
			c.note(h.inMarketplace(f, plugins))
		case c.note(h.in(f.File, f.tree)) && !f.settings:
			c.Settings = append(c.Settings, Setting{Name: f.Path, Value: f.Text})
		}
	}
	for plugin, enabled := range plugins {
		if enabled && !off && !slices.ContainsFunc(files, func(f parsedHooks) bool {
			return f.plugin == plugin
		}) {
			c.CannotReadHooks()
		}
	}
}

// parsedHooks is a file that can have hooks, with the members, nil if they are not known.
type parsedHooks struct {
	File
	settings bool   // it is one of the call's settings files, which are settings anyhow
	plugin   string // the plugin that it belongs to
	tree     map[string]any
}

// enabledPlugins returns the plugins that the files enable or disable, and whether they switch off
// all hooks but an administrator's.
func (h Hooks) enabledPlugins(files []parsedHooks) (plugins map[string]bool, off bool) {
	plugins, on := map[string]bool{}, false
	for _, f := range files {
		if f.plugin != "" {
			continue
		}
		off, on = off || f.tree[h.Off] == true, on || f.tree[h.Off] == false
		listed, _ := f.tree[h.Plugins].(map[string]any)
		for plugin, value := range listed {
			if members, ok := value.(map[string]any); ok {
				value = members["enabled"]
			}
			plugins[plugin] = plugins[plugin] || value != false && value != nil
		}
	}
	return plugins, off && !on
}

// ReadHooksIn is ReadHooks for JSON on a command line or in a variable.
func (c *CommandLine) ReadHooksIn(h Hooks, text string) {
	f := File{Path: ".json", Text: text}
	c.note(h.in(f, parseSettings(f)))
}

// CannotReadHooks notes that the call can have any hook.
func (c *CommandLine) CannotReadHooks() { c.note(anyHook) }

// A hookKinds tells which hooks there are: hooks that must see the whole prompt, and hooks that a
// resume would not run as a new session does.
type hookKinds struct{ prompt, start bool }

var anyHook = hookKinds{true, true}

func (k hookKinds) or(other hookKinds) hookKinds {
	return hookKinds{k.prompt || other.prompt, k.start || other.start}
}

// note notes hooks of the call, and reports whether there are any.
func (c *CommandLine) note(k hookKinds) bool {
	c.KeepPrompt, c.HookSet = c.KeepPrompt || k.prompt, c.HookSet || k.start
	return k != hookKinds{}
}

// elsewhere are the types of an extension of gemini or qwen in another directory, and of a login
// that has a server send opencode a configuration.
var elsewhere = []any{"link", "wellknown"}

// in returns the hooks of a file.
func (h Hooks) in(f File, tree map[string]any) hookKinds {
	switch {
	case f.Unread, slices.Contains(codeFiles, path.Ext(f.Path)):
		return anyHook
	case tree != nil:
		return h.below(tree)
	case mentions(f.Text, append([]string{"hooks", h.Plugins}, h.Code...)) &&
		path.Ext(f.Path) != ".md":
		return anyHook
	}
	return hookKinds{mentions(f.Text, h.Prompt), mentions(f.Text, h.Start)}
}

var codeFiles = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".py",
	".zip"}

// mentions reports whether a text has one of the names. No name is "".
func mentions(text string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name != "" && strings.Contains(text, name)
	})
}

// below returns the hooks of a list or an object.
func (h Hooks) below(value any) (found hookKinds) {
	list, _ := value.([]any)
	for _, element := range list {
		found = found.or(h.below(element))
	}
	members, _ := value.(map[string]any)
	for name, value := range members {
		prompt, start := slices.Contains(h.Prompt, name), slices.Contains(h.Start, name)
		switch {
		case prompt || start:
			found = found.or(hookKinds{prompt && !isEmpty(value), start && !h.alike(value)})
		case slices.Contains(h.Code, name) && !isEmpty(value), name == "hooks" && namesFile(value),
			name == "type" && slices.Contains(elsewhere, value):
			return anyHook
		default:
			found = found.or(h.below(value))
		}
	}
	return found
}

// alike reports whether start hooks run in a resumed session as in a new one.
func (h Hooks) alike(hooks any) bool {
	if isEmpty(hooks) {
		return true
	}
	list, ok := hooks.([]any)
	return ok && len(h.Sources) > 0 && !slices.ContainsFunc(list, func(hook any) bool {
		members, ok := hook.(map[string]any)
		return !ok || !h.matchesAlike(members["matcher"])
	})
}

// matchesAlike reports whether a matcher matches all Sources, or none. Tools read it as a list of
// words or as a regular expression. A matcher that these could read in two ways does not count.
func (h Hooks) matchesAlike(matcher any) bool {
	text, ok := matcher.(string)
	text = strings.TrimSpace(text)
	if matcher == nil || ok && slices.Contains([]string{"", "*", ".*"}, text) {
		return true
	}
	words := strings.FieldsFunc(strings.Trim(text, "^()$"), func(r rune) bool {
		return strings.ContainsRune("|, ", r)
	})
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if len(words) == 0 || strings.Trim(strings.Join(words, ""), letters) != "" {
		return false
	}
	matched := 0
	for _, source := range h.Sources {
		switch {
		case slices.Contains(words, source):
			matched++
		case slices.ContainsFunc(words, func(word string) bool {
			return strings.Contains(source, strings.ToLower(word))
		}):
			return false
		}
	}
	return matched == 0 || matched == len(h.Sources)
}

// parseSettings returns the members of a file in JSON or TOML, as they are in JSON, nil if it has
// none.
func parseSettings(f File) (tree map[string]any) {
	text := []byte(strings.TrimPrefix(f.Text, "\ufeff"))
	switch path.Ext(f.Path) {
	case ".md":
		return nil
	case ".toml":
		var tables map[string]any
		if _, err := toml.Decode(string(text), &tables); err != nil {
			return nil
		}
		text, _ = json.Marshal(tables) // no text if a number is none in JSON
	}
	if json.Unmarshal(text, &tree) != nil {
		return nil
	}
	return tree
}

// pluginOf returns the plugin, as NAME@MARKETPLACE, that a file belongs to, "" if it belongs to
// none.
func pluginOf(path string) string {
	for _, dir := range []string{"/plugins/cache/", installedPlugins} {
		_, below, _ := strings.Cut(path, dir)
		if parts := strings.Split(below, "/"); len(parts) > 2 {
			return parts[1] + "@" + parts[0]
		}
	}
	return ""
}

// installedPlugins is the directory of copilot's plugins, which need not be listed.
const installedPlugins = "/installed-plugins/"

// isOff reports whether the plugin of a file is not loaded.
func isOff(plugins map[string]bool, f parsedHooks) bool {
	enabled, listed := plugins[f.plugin]
	return f.plugin != "" && !enabled && (listed || !strings.Contains(f.Path, installedPlugins))
}

// inMarketplace returns the hooks that a marketplace lists for enabled plugins.
func (h Hooks) inMarketplace(f parsedHooks, plugins map[string]bool) (found hookKinds) {
	market := path.Base(path.Dir(path.Dir(f.Path)))
	list, _ := f.tree["plugins"].([]any)
	for _, entry := range list {
		members, _ := entry.(map[string]any)
		if name, _ := members["name"].(string); plugins[name+"@"+market] {
			found = found.or(h.below(members))
		}
	}
	return found
}

// isAdministrators reports whether a file is an administrator's, or claude's file of the settings
// that the service sends.
func isAdministrators(file string) bool {
	return strings.HasPrefix(file, "/etc/") || strings.HasPrefix(file, "/Library/") ||
		strings.HasSuffix(file, "/remote-settings.json")
}

// namesFile reports whether hooks are the paths of files, other than the usual one, which is read
// anyhow.
func namesFile(hooks any) bool {
	text, ok := hooks.(string)
	list, _ := hooks.([]any)
	return ok && path.Clean(text) != "hooks/hooks.json" || slices.ContainsFunc(list, namesFile)
}

func isEmpty(value any) bool {
	text, _ := json.Marshal(value) // it came from JSON
	return slices.Contains([]string{"null", `""`, "{}", "[]"}, string(text))
}
