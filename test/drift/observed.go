package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// A set is what occurred.
type set = map[string]bool

// sets are sets by their titles.
type sets map[string]set

func (s sets) put(title, value string) {
	if s[title] == nil {
		s[title] = set{}
	}
	s[title][value] = true
}

// observed is what was seen of a case: what callers see of it, and the shapes of what is written and sent.
type observed struct {
	exit, stdout, stderr, files string
	sets
}

func (o observed) same(other observed) bool {
	return o.exit == other.exit && o.stdout == other.stdout && o.stderr == other.stderr && o.files == other.files
}

// union returns all that occurred in any case.
func union(all map[string]observed) sets {
	u := sets{}
	for _, o := range all {
		for title, values := range o.sets {
			for value := range values {
				u.put(title, value)
			}
		}
	}
	return u
}

func merged(a, b sets) sets {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// add adds what a call did.
func (o *observed) add(v version, w *harness.World, r harness.Result) {
	exit := fmt.Sprint(r.Exit)
	if r.Signal != 0 {
		exit = r.Signal.String()
	}
	if o.exit != "" {
		exit = o.exit + " and " + exit
	}
	o.exit = exit
	events, rest := objects(r.Stdout)
	for _, event := range events {
		o.keys("keys of events", event)
	}
	o.stdout += v.mask(w, rest)
	o.stderr += v.mask(w, r.Stderr)
	o.files = v.mask(w, strings.Join(r.Files, ""))
	for _, request := range r.Asked {
		o.request(request)
	}
}

// addFiles adds the names of the files in the home, and the keys of the sessions among them.
func (o *observed) addFiles(v version, w *harness.World) error {
	written, err := files(w.Home)
	if err != nil {
		return err
	}
	for _, path := range written {
		name, err := filepath.Rel(w.Home, path)
		if err != nil {
			return err
		}
		o.put("files in the home", random.ReplaceAllString(v.mask(w, name), "*"))
	}
	sessions, err := w.Transcripts()
	if err != nil {
		return err
	}
	for _, path := range sessions {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines, _ := objects(string(text))
		for _, line := range lines {
			o.keys("keys of transcripts", line)
		}
	}
	return nil
}

// random matches a part of a name that differs from run to run: a number, or letters and digits mixed.
var random = regexp.MustCompile(`[0-9a-zA-Z]*[0-9][0-9a-zA-Z]*`)

// mask removes what differs between two runs of one version, and the version.
func (v version) mask(w *harness.World, text string) string {
	return strings.ReplaceAll(w.Mask(text), v.number, "VERSION")
}

// objects returns the JSON objects in a text, which is one value or has one a line, and the other lines.
func objects(text string) (all []any, rest string) {
	var one any
	if json.Unmarshal([]byte(text), &one) == nil {
		if list, ok := one.([]any); ok {
			return list, ""
		}
		if isObject(one) {
			return []any{one}, ""
		}
	}
	for line := range strings.Lines(text) {
		var value any
		if json.Unmarshal([]byte(line), &value) == nil && isObject(value) {
			all = append(all, value)
		} else {
			rest += line
		}
	}
	return all, rest
}

func isObject(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}

const deepest = 5 // keys below are the model's or the tools' own

// keys adds the keys of an event or line, below its type.
func (o *observed) keys(title string, value any) {
	object, _ := value.(map[string]any)
	name, _ := object["type"].(string)
	if sub, ok := object["subtype"].(string); ok {
		name += "/" + sub
	}
	o.paths(title, name+" ", value, deepest)
}

// request adds the shape of what was sent to the model.
func (o *observed) request(r standin.Request) {
	const title = "keys of requests"
	o.paths(title, r.API+" ", r.Body, 2)
}

// word matches a key that is a name, not an ID or a path.
var word = regexp.MustCompile(`^[A-Za-z_$][A-Za-z_$-]*$`)

func (o *observed) paths(title, path string, value any, depth int) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if !word.MatchString(key) {
				key = "*"
			}
			o.put(title, path+key)
			if depth > 1 {
				o.paths(title, path+key+".", inner, depth-1)
			}
		}
	case []any:
		for _, inner := range value {
			o.paths(title, strings.TrimSuffix(path, ".")+"[].", inner, depth)
		}
	}
}
