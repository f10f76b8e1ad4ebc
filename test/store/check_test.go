package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Nothing is wrong with what runs do, and each mistake that is put in on purpose is found.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		fault fault
		steps int64
	}{{none, 2000}, {conditions, 100_000}, {lease, 100_000}, {holder, 100_000}, {reuse, 100_000}} {
		t.Run("fault="+string(c.fault), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			tally, wrong, err := check(ctx, plan{seed: 1, steps: c.steps, atOnce: 2, fault: c.fault})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(tally)
			if found := wrong != ""; found != (c.fault != none) {
				t.Error(wrong)
			}
			if resumed, calls := tally.resumed.Load(), tally.calls.Load(); c.fault == none && resumed*20 < calls {
				t.Errorf("%d of %d calls resume: too few to find anything", resumed, calls)
			}
		})
	}
}

// Histories that are right and wrong.
func TestJudge(t *testing.T) {
	at := func(o op, began, ended int64) porcupine.Operation {
		return porcupine.Operation{Input: o, Call: began, Return: ended}
	}
	begun := []porcupine.Operation{at(op{take, "a", "s", ""}, 1, 2), at(op{finish, "a", "s", "1"}, 3, 4)}
	for _, c := range []struct {
		name, want string
		more       []porcupine.Operation
	}{
		{"one after the other", "", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6), at(op{finish, "b", "s", "2"}, 7, 8), at(op{take, "c", "s", "2"}, 9, 10)}},
		{"twice", "same state", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6), at(op{take, "c", "s", "1"}, 7, 8)}},
		{"stale", "no order", []porcupine.Operation{at(op{abandon, "b", "s", ""}, 5, 6), at(op{take, "c", "s", "1"}, 7, 8)}},
		{"before it was left", "no order", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6), at(op{take, "c", "s", "2"}, 7, 8), at(op{finish, "b", "s", "2"}, 9, 10)}},
		{"left without knowing", "", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6), at(op{maybeFinish, "b", "s", "2"}, 7, never), at(op{take, "c", "s", "2"}, 9, 10)}},
		{"not left without knowing", "no order", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6), at(op{maybeFinish, "b", "s", "2"}, 7, 8), at(op{take, "c", "s", "3"}, 9, 10)}},
		{"by another run", "no order", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6), at(op{finish, "a", "s", "2"}, 7, 8)}},
		{"another session", "", []porcupine.Operation{at(op{take, "b", "other", ""}, 5, 6), at(op{take, "c", "s", "1"}, 7, 8)}},
	} {
		h := &history{ops: append(begun[:2:2], c.more...)}
		wrong, decided := h.judge()
		if !decided || (wrong == "") != (c.want == "") || !strings.Contains(wrong, c.want) {
			t.Errorf("%s: %q", c.name, wrong)
		}
	}
}
