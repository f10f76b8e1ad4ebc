package rewrite

import "testing"

func TestLeastFirst(t *testing.T) {
	for _, tt := range []struct{ first, held, forgotten, resumed int64 }{
		{12_947, 12_953, 12_370, 13_049}, // claude 2.1.332, a prompt of 2.6 kB and a delta of 324 B
		{13_000, 150_000, 13_500, 90_000},
		{100_000, 130_000, 14_000, 66_000}, // old results of tools are left out
		{100_000, 20_000, 13_000, 20_000},  // it was compacted since
		{0, 0, -1, 0},
		{0, 50_000, 13_000, 48_000},
	} {
		if least := LeastFirst(tt.first, tt.held); tt.forgotten >= least || tt.resumed < least {
			t.Errorf("after %d, %d: at least %d, want it between %d and %d", tt.first, tt.held, least, tt.forgotten, tt.resumed)
		}
	}
}
