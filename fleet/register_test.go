package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// register returns the only register of a store.
func (f *fakeStore) register(t *testing.T) (key string, r store.Register) {
	t.Helper()
	if len(f.registers) != 1 {
		t.Fatalf("%d registers", len(f.registers))
	}
	for key, r = range f.registers {
	}
	return key, r
}

// The format of a register: machines of other versions read it. A field can be added to it. None is
// renamed or removed.
func TestRegisterFormat(t *testing.T) {
	const file = "testdata/register.json"
	f := newFakeStore()
	a := f.machine(t, "a")
	c := sharedCall(a, "task", fmt.Sprintf(base, 1), 1000)
	c.Copies = true
	_, ticket := wantResume(t, a, c, "")
	endShared(t, a, ticket, firstID, "Done.", 2000)
	c = sharedCall(a, "task", fmt.Sprintf(base, 1)+"\n\nMore.", 3000)
	c.Copies = true
	_, ticket = wantResume(t, a, c, firstID)
	endShared(t, a, ticket, secondID, "Done.", 4000)
	_, r := f.register(t)
	if *update {
		var text bytes.Buffer
		_ = json.Indent(&text, r.Value, "", " ")
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var have, want map[string]any
	text, err := os.ReadFile(file)
	if err := errors.Join(err, json.Unmarshal(text, &want),
		json.Unmarshal(r.Value, &have)); err != nil {
		t.Fatalf("%v: %s", err, r.Value)
	}
	if missing := lacking("", want, have); len(missing) > 0 {
		t.Errorf("registers have lost %v: %s", missing, r.Value)
	}
	// A register of an earlier reprise is read.
	f.registers = map[string]store.Register{}
	name := a.name(c)
	f.registers[fmt.Sprint(name)] = store.Register{Name: name, Value: text, Version: "v1"}
	read, err := a.read(t.Context(), c)
	if err != nil || len(read.registers) != 1 || read.damaged {
		t.Fatal(read, err)
	}
}

// lacking returns the paths of fields that a value has no more.
func lacking(path string, want, have any) (missing []string) {
	switch want := want.(type) {
	case map[string]any:
		have, _ := have.(map[string]any)
		for key, value := range want {
			if got, ok := have[key]; ok {
				missing = append(missing, lacking(path+"/"+key, value, got)...)
			} else {
				missing = append(missing, path+"/"+key)
			}
		}
	case []any:
		have, _ := have.([]any)
		for i, value := range want {
			if i >= len(have) {
				return append(missing, fmt.Sprint(path, "/", i))
			}
			missing = append(missing, lacking(fmt.Sprint(path, "/", i), value, have[i])...)
		}
	}
	return missing
}

// Machines of two versions share a store: fields that only the newer one knows do not disturb the
// older one, and that they are missing does not disturb the newer one.
func TestTwoVersionsShareAStore(t *testing.T) {
	f := newFakeStore()
	prompt, id := fmt.Sprintf(base, 1), ""
	for round := range 100 {
		s := f.machine(t, fmt.Sprint("m", round))
		if round > 0 {
			key, r := f.register(t)
			text := string(r.Value)
			if round%2 == 0 { // the newer one has written it
				text = strings.Replace(text, `{"version":1,`,
					`{"version":1,"of_tomorrow":[{"a":1}],`, 1)
				text = strings.ReplaceAll(text, `"native_id":`, `"of_tomorrow":7,"native_id":`)
			} else { // a version without some of today's fields
				text = strings.ReplaceAll(text, `"place":`, `"no_place":`)
				text = strings.ReplaceAll(text, `"root":`, `"no_root":`)
			}
			if text == string(r.Value) {
				t.Fatal("nothing is changed")
			}
			r.Value = []byte(text)
			f.registers[key] = r
			prompt += fmt.Sprintf("\n\n## Round %d", round)
		}
		now := decide.Millis(round) * 10_000
		_, ticket := wantResume(t, s, sharedCall(s, "task", prompt, now+1000), id)
		id = nth(1)
		endShared(t, s, ticket, id, "Done.", now+2000)
	}
}

func TestRegistersOfOtherVersions(t *testing.T) {
	f := newFakeStore()
	a := f.machine(t, "a")
	prompt := fmt.Sprintf(base, 1)
	_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
	endShared(t, a, ticket, firstID, "Done.", 2000)
	key, r := f.register(t)
	newer := r
	newer.Value = []byte(strings.Replace(string(r.Value), `"version":1`, `"version":2`, 1))
	f.registers[key] = newer
	if _, _, err := ledger.Begin(a,
		sharedCall(a, "task", prompt+"\n\nMore.", 3000)); !errors.Is(err, store.ErrNewer) {
		t.Errorf("of a newer version: %v", err)
	}
	damaged := r
	damaged.Damaged, damaged.Value = true, nil
	broken := func(old, new string) store.Register {
		one := r
		if one.Value = []byte(strings.Replace(string(r.Value), old,
			new, 1)); string(one.Value) == string(r.Value) {
			t.Fatalf("%s is nowhere", old)
		}
		return one
	}
	for n, bad := range []store.Register{damaged, broken("{", "["),
		broken(`"newest":1`, `"newest":2`), broken(`"newest":1`, `"newest":-1`),
		broken(`"version":1`, `"version":0`), broken(`"state"`, `"parent":1,"state"`)} {
		f := newFakeStore()
		b := f.machine(t, "b")
		f.registers[key] = bad
		f.writes = 1000
		d, ticket, err := ledger.Begin(b, sharedCall(b, "task", prompt+"\n\nMore.", 5000))
		if err != nil || d.Mode != rewrite.Fresh || d.Reason != reason.StoreUnavailable {
			t.Fatalf("damaged %d: %s (%s), %v", n, d.Mode, d.Reason, err)
		}
		endShared(t, b, ticket, secondID, "Done.", 6000)
		c := f.machine(t, "c")
		wantResume(t, c, sharedCall(c, "task", prompt+"\n\nMore.\n\nAnd more.", 7000), secondID)
	}
}

// The roles of a task do not wait for each other in a store, however slow it is.
func TestRolesDoNotDisturbEachOther(t *testing.T) {
	const roles = 10
	f := newFakeStore()
	prompt := fmt.Sprintf(base, 1)
	call := func(s *Book, n int, prompt string, now decide.Millis) *ledger.Call {
		c := sharedCall(s, "task", prompt, now)
		c.Role = fmt.Sprint("reviewer-", n)
		return c
	}
	id := func(n int) string { return nth(n + 1) }
	for n := range roles {
		s := f.machine(t, fmt.Sprint("m", n))
		_, ticket := wantResume(t, s, call(s, n, prompt, 1000), "")
		endShared(t, s, ticket, id(n), "Done.", 2000)
	}
	// Each takes its session while all others take theirs.
	var take func(n int)
	take = func(n int) {
		if n == roles {
			return
		}
		s := f.machine(t, fmt.Sprint("n", n))
		f.before = func() { take(n + 1) }
		_, ticket := wantResume(t, s, call(s, n, prompt+"\n\nMore.", 3000), id(n))
		endShared(t, s, ticket, id(n), "Done.", 4000)
	}
	take(0)
	if len(f.registers) != roles {
		t.Errorf("%d registers", len(f.registers))
	}
}
