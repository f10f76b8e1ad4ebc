package rewrite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func FuzzMarks(f *testing.F) {
	for _, s := range []string{"", `"`, `""`, `"a"`, `"ab"`, `"b"ab"`, `""ab"`, `"ab`, `ab"`, `x"aab"`, `"c"`} {
		f.Add(s)
	}
	words := []string{"ab", "aa", "c"}
	m := newMarks(words...)
	f.Fuzz(func(t *testing.T, line string) {
		want := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, `"`+w+`"`) })
		if m.in([]byte(line)) != want {
			t.Errorf("%q: found: %v, want %v", line, !want, want)
		}
	})
}

// Whatever the order of its keys: of a line that is not parsed there is nothing to
// learn.
func TestUnreadLinesTeachNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	id := `"00000000-0000-4000-8000-000000000001"`
	unread := 0
	for range 20_000 {
		fields := []string{
			`"type":` + pick(`"user"`, `"assistant"`, `"system"`, `"result"`, `"stream_event"`, `"rate_limit_event"`),
			`"session_id":` + id,
			`"message":{"role":"user","content":` + pick(`"ok"`, `"{\"type\":\"result\"}"`, `[{"type":"text","text":"\"init\""}]`, `[{"type":"tool_use"}]`) + `}`,
			`"subtype":` + pick(`"init"`, `"compact_boundary"`, `"status"`, `"success"`),
			`"result":"done"`, `"model":"m"`, `"parent_tool_use_id":null`,
		}
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		line := []byte(fmt.Sprintf("{%s}\n", strings.Join(fields[:1+r.IntN(len(fields))], ",")))
		if new(claudeStream).read(line).Type != "" {
			continue
		}
		unread++
		var e claudeEvent
		if json.Unmarshal(line, &e) != nil {
			continue // nor from one that no parser takes
		}
		var s claudeStream
		if s.learn(&e); !reflect.DeepEqual(s.seen, StreamState{}) {
			t.Fatalf("%s is not read", bytes.TrimSpace(line))
		}
	}
	if unread < 1000 {
		t.Errorf("%d lines were left unread", unread)
	}
}
