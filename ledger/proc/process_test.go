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
		{"as it was", Process{Boot: "boot", PID: 100, Start: 5000}, true},
		{"another has its pid", Process{Boot: "boot", PID: 100, Start: 4999}, false},
		{"an earlier boot", Process{Boot: "an earlier one", PID: 100, Start: 5000}, false},
		{"gone", Process{Boot: "boot", PID: 101, Start: 5000}, false},
		{"no start known then", Process{Boot: "boot", PID: 100, Start: 0}, true},
		{"no start known now", Process{Boot: "boot", PID: 200, Start: 5000}, false},
		{"never known", Process{Boot: "boot", PID: 200, Start: 0}, true},
		{"not waited for yet", Process{Boot: "boot", PID: 300, Start: 5000}, false},
		{"none", Process{Boot: "boot", PID: 0, Start: 0}, false},
		{"a group", Process{Boot: "boot", PID: -100, Start: 5000}, false},
	} {
		if got := tt.p.aliveIn("boot", exists, start); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
