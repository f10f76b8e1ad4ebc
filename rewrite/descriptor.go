package rewrite

import "slices"

// A Descriptor is what the rest of the program knows of a tool as data. Every list of
// tools is made from the registered descriptors: the one in C that is asked before Go
// starts, those of install.sh, of shimctl and of the tests.
type Descriptor struct {
	// Name is the command that the tool's shim is installed under.
	Name string
	// Headless is the shortest call that reads its prompt from stdin.
	Headless []string
	// Unattended is a call that lets the tool work without asking its user. The prompt follows.
	Unattended []string

	// Subcommands are first words whose calls are passed through.
	Subcommands []string
	// Managed, if set, are the only first words whose calls are not passed through.
	Managed []string
	// Alone are options whose call is passed through if nothing stands beside them.
	Alone []string
	// Nested are the variables that the tool sets for the commands it runs. A call that has one
	// is passed through.
	Nested []string

	// LoginKeys are the variables for which the tool leaves its own login.
	LoginKeys []string
	// Provider is who the tool's models are from, in the words of OpenTelemetry's conventions
	// for generative AI.
	Provider string

	// Home returns the directory that the tool keeps its sessions below.
	Home func(env func(string) string) string
	// Sessions are patterns of the files below Home that each hold a session, as filepath.Glob
	// understands them.
	Sessions []string

	StandIn StandIn
}

// A StandIn is how the tool is made to talk to a stand-in of its model, without an account
// and to nothing else. In the values of Env and in Text, HOME stands for the home directory and
// URL for the stand-in's address.
type StandIn struct {
	Env    []string // NAME=VALUE
	Config string   // the path of a configuration file below the user's directory, "" for none
	Text   string   // what stands in that file
}

// NestedEnv is the variable that the shim sets for the tools it starts, so that a call from
// within one is known by it.
const NestedEnv = "REPRISE_INSIDE"

// nested reports whether the environment is that of a command which a tool runs.
func (d *Descriptor) nested(env func(string) string) bool {
	return env(NestedEnv) != "" || slices.ContainsFunc(d.Nested, func(name string) bool { return env(name) != "" })
}

var tools []Tool

// Names are the registered tools' names, in the order in which people are shown them.
var Names []string

// Register adds a tool. It is called by the file that implements the tool, before main.
func Register(t Tool) {
	tools = append(tools, t)
	Names = append(Names, t.Descriptor().Name)
}

// Lookup returns the tool of that name. ok is false if there is none.
func Lookup(name string) (tool Tool, ok bool) {
	i := slices.Index(Names, name)
	if i < 0 {
		return nil, false
	}
	return tools[i], true
}

// Home returns the directory that a tool keeps its sessions below, "" if no tool has that name.
func Home(name string, env func(string) string) string {
	if t, ok := Lookup(name); ok {
		return t.Descriptor().Home(env)
	}
	return ""
}
