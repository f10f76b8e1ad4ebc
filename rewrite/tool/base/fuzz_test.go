package base

import (
	"bytes"
	"encoding/json"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/test/tooltest"
)

func FuzzJSONLine(f *testing.F) {
	for _, s := range []string{`{"a": 1, "b": {"c": 2.5e0}, "d": [3]}`, `{"a":1}`,
		`{"a":1,"a":2,"x":{"a":-0}}`, `{ "b" : 1 , "a" : 9 , "c" : 2 }`, `[1]`, `{"a"`,
		"{\"a\":1\n,\"b\":2}", `{"\u0061":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		valid := json.Valid(line)
		numbers := jsonline.Numbers(line)
		at := 0
		for _, n := range numbers {
			if n.Start < at || n.End > len(line) || string(line[n.Start:n.End]) != n.Text {
				t.Fatalf("%q: number %+v", line, n)
			}
			at = n.End
		}
		if !valid {
			return
		}
		totals := EncodeTotals(numbers, func(string) bool { return true })
		s := NewStream(rewrite.CommandLine{}, rewrite.Plan{}, totals)
		got := SubtractTotals(bytes.Clone(line), numbers, s.Before, nil)
		if !json.Valid(got) {
			t.Fatalf("%q becomes %q", line, got)
		}
		if !bytes.Equal(got, line) &&
			!bytes.Equal(tooltest.StripNumbers(got), tooltest.StripNumbers(line)) {
			t.Fatalf("%q becomes %q: more than numbers", line, got)
		}
		cut := []byte(jsonline.RemoveKey(string(line), "a"))
		if !json.Valid(cut) {
			t.Fatalf("%q without a is %q", line, cut)
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(line, &before) != nil || json.Unmarshal(cut, &after) != nil {
			return
		}
		for key, value := range before {
			if left, ok := after[key]; key != "a" && (!ok || !bytes.Equal(left, value)) {
				t.Fatalf("%q without a is %q: %s is lost", line, cut, key)
			}
		}
	})
}
