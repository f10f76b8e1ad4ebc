package harness

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"reprise/internal/standin"
)

// Compare returns the differences between a call in a direct world and a call with the shim, except
// the known variations.
func Compare(direct, shimmed *World, a, b Result) (found []string) {
	if a.Exit != b.Exit || a.Signal != b.Signal {
		found = append(found, fmt.Sprintf("exit %d, signal %d; with the shim %d, %d", a.Exit,
			a.Signal, b.Exit, b.Signal))
	}
	if a.Left != b.Left {
		found = append(found, fmt.Sprintf("%d processes left; with the shim %d", a.Left, b.Left))
	}
	differ := func(what, a, b string) {
		if d := Differ(what, direct.Mask(a), shimmed.Mask(b)); d != "" {
			found = append(found, d)
		}
	}
	if len(a.Asked) != len(b.Asked) {
		found = append(found, fmt.Sprintf("asked the model %d times; with the shim %d",
			len(a.Asked), len(b.Asked)))
	}
	one, other := direct.bodies(a), shimmed.bodies(b)
	differ("stdout", a.Stdout, b.Stdout)
	differ("stderr", a.Stderr, b.Stderr)
	differ("files", direct.sorted(a.Files), shimmed.sorted(b.Files))
	for i := range min(len(one), len(other)) {
		differ("request", one[i], other[i])
	}
	return found
}

// bodies returns the requests of a call, sorted: concurrent requests (claude 2.0.76 warms its
// caches up) come in any order.
func (w *World) bodies(r Result) (all []string) {
	for _, request := range r.Asked {
		all = append(all, w.Mask(body(request)))
	}
	slices.Sort(all)
	return all
}

// sorted sorts files independently of the masked parts of their names.
func (w *World) sorted(files []string) string {
	var all []string
	for _, file := range files {
		all = append(all, w.Mask(file))
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func body(r standin.Request) string {
	dropRepeatedResults(r.Body)
	text, err := json.MarshalIndent(r.Body, "", " ")
	if err != nil {
		panic(err) // it came from JSON
	}
	return r.Path + "\n" + string(text)
}

// dropRepeatedResults removes a tool's result that repeats the part before it. gemini 0.61.0 stores
// a result twice. When it resumes a session, it sends one or both, depending on its speed.
func dropRepeatedResults(body any) {
	request, _ := body.(map[string]any)
	contents, _ := request["contents"].([]any)
	for _, one := range contents {
		content, _ := one.(map[string]any)
		parts, _ := content["parts"].([]any)
		if len(parts) > 0 {
			content["parts"] = slices.CompactFunc(parts, func(a, b any) bool {
				return isResult(a) && reflect.DeepEqual(a, b)
			})
		}
	}
}

func isResult(part any) bool {
	fields, _ := part.(map[string]any)
	return fields["functionResponse"] != nil
}

// Differ returns where two texts differ, "" if they do not.
func Differ(what, direct, shimmed string) string {
	if direct == shimmed {
		return ""
	}
	a, b := strings.Split(direct, "\n"), strings.Split(shimmed, "\n")
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	one, other := strings.Join(a[i:], "\n"), strings.Join(b[i:], "\n")
	j := 0
	for j < min(len(one), len(other)) && one[j] == other[j] {
		j++
	}
	from := max(0, j-100)
	return fmt.Sprintf("%s differs from line %d, byte %d on (%d and %d bytes):\n- %.400s\n+ %.400s",
		what, i+1, j, len(direct), len(shimmed), one[from:], other[from:])
}
