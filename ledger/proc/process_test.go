package proc

import "testing"

func TestAlive(t *testing.T) {
	starts := map[int]int64{100: 5000, 200: 0, 300: -1} // 200: not known, 300: a zombie
	exists := func(pid int) bool { _, ok := starts[pid]; return ok }
	start := func(pid int) int64 { return starts[pid] }
	for _, tt := range []struct {
		name string
		p    Process
		want bool
	}{
		{"as it was", Process{"boot", 100, 5000}, true},
		{"another has its pid", Process{"boot", 100, 4999}, false},
		{"an earlier boot", Process{"an earlier one", 100, 5000}, false},
		{"gone", Process{"boot", 101, 5000}, false},
		{"no start known then", Process{"boot", 100, 0}, true},
		{"no start known now", Process{"boot", 200, 5000}, false},
		{"never known", Process{"boot", 200, 0}, true},
		{"not waited for yet", Process{"boot", 300, 5000}, false},
		{"none", Process{"boot", 0, 0}, false},
		{"a group", Process{"boot", -100, 5000}, false},
	} {
		if got := tt.p.aliveIn("boot", exists, start); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
