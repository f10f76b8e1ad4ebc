package jsonline

import (
	"encoding/json"
	"testing"
)

// Member finds the same values as encoding/json, and nothing breaks it.
func FuzzJSONMember(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"key":{"b":"}\""}}`, `{"key":"\\","key":[1,"]",{}]}`,
		` { "k\u0065y" : null , "x" : -1.5e3 } `, `{"key"`, `{"key":`, `{"key":"`, `[]`, `{"key":}`,
		`{"a":"\`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Member(text, "key")
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &object) != nil || object == nil {
			return
		}
		if want := string(object["key"]); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}
