package jobs

import "testing"

// A fork of a codex thread has another cache key than the thread, so that a provider might not
// find its prefix; and it needs the rollout that it was forked from. So the shim resumes in the
// thread itself.
func TestCodexForkHasAnotherCacheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", false)
	key := func(args ...string) string {
		r := w.call(args...)
		if r.Exit != 0 {
			t.Fatalf("%v: exit %d, stderr %q", args, r.Exit, r.Stderr)
		}
		body, _ := r.last(t).Body.(map[string]any)
		key, _ := body["prompt_cache_key"].(string)
		if key == "" {
			t.Fatalf("%v: no cache key", args)
		}
		return key
	}
	first := key("exec", round())
	id, err := w.NewestID()
	if err != nil {
		t.Fatal(err)
	}
	if got := key("exec", "resume", id, "what number was it?"); got != first {
		t.Errorf("a resume has key %s, its thread %s", got, first)
	}
	if got := key("exec", "fork", id, "what number was it?"); got == first {
		t.Errorf("a fork has its thread's key %s: it could be gone on with in a copy", got)
	}
}
