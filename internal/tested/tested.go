// Package tested is the list of the tools' versions that were tried with the shims. The tests
// install the pins, the documents and shimctl doctor show it, and a release has it as a separate
// file. It is linked into shimctl, never into the shim.
//
// It fetches nothing. Invariant: tests, documents, doctor and releases have the same list.
package tested

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A Versions has the versions of each tool, and of the SDKs that the tests run.
type Versions struct {
	Schema string `json:"schema"`
	Tools  []Tool `json:"tools"`
	SDKs   []Tool `json:"sdks"`
}

// A Tool is the version that all tests are run with, and the others that were tried, of the package
// that users install.
type Tool struct {
	Name string `json:"tool"`
	Pin  string `json:"pin"` // PACKAGE@VERSION, as npm takes it, or PACKAGE==VERSION, as pip does
	// the package for linux-x64, if the pinned one runs a script to install that
	Install string   `json:"install,omitempty"`
	With    []string `json:"with,omitempty"` // npm packages that must be installed with it
	Note    string   `json:"note,omitempty"` // a part that alone is tested
	// versions without a difference, each former pin among them
	Tried    string   `json:"tried"`
	Differed []Result `json:"differed,omitempty"` // by the conformance suite
}

// A Result is a version and its results. A field that is empty means that nothing differed.
type Result struct {
	Version       string `json:"version"`
	PassedThrough string `json:"passed_through,omitempty"`
	Fresh         string `json:"fresh,omitempty"`
	Resumes       string `json:"resume,omitempty"`
}

//go:embed tested.json
var own []byte

// BuiltIn returns the list that this program was built with.
func BuiltIn() (l Versions) {
	if err := json.Unmarshal(own, &l); err != nil {
		panic(err) // a test reads it
	}
	return l
}

// Tool returns the entry of a tool or an SDK, which is empty if there is none.
func (l Versions) Tool(name string) Tool {
	for _, t := range slices.Concat(l.Tools, l.SDKs) {
		if t.Name == name {
			return t
		}
	}
	return Tool{}
}

// Package returns the name of the pinned package.
func (t Tool) Package() string {
	return strings.TrimRight(strings.TrimSuffix(t.Pin, t.Version()), "@=")
}

// Version returns the pinned version.
func (t Tool) Version() string { return t.Pin[strings.LastIndexAny(t.Pin, "@=")+1:] }

// Python reports whether the package is pip's.
func (t Tool) Python() bool { return strings.Contains(t.Pin, "==") }

// Rows returns all versions that were tried, the oldest first. The pin is the last one.
func (t Tool) Rows() []Result {
	rows := append(slices.Clone(t.Differed), Result{Version: t.Version()})
	for version := range strings.FieldsSeq(t.Tried) {
		rows = append(rows, Result{Version: version})
	}
	slices.SortFunc(rows, func(a, b Result) int { return Compare(a.Version, b.Version) })
	return rows
}

// Compare compares versions number by number.
func Compare(a, b string) int {
	return slices.Compare(numbers(a), numbers(b))
}

func numbers(version string) (all []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // a part that is no number comes first
		all = append(all, n)
	}
	return all
}
