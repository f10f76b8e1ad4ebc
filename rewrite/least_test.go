package rewrite

import "testing"

func TestCountsRequests(t *testing.T) {
	for _, tt := range []struct {
		first  int64
		prompt int
		want   bool
	}{
		{12_947, 2_600, true}, // claude 2.1.332
		{2_149, 2_600, false},
		{2_150, 2_600, true},
		{5_600, 22_400, false}, // the prompt alone
		{0, 0, false},
	} {
		if got := CountsRequests(tt.first, tt.prompt); got != tt.want {
			t.Errorf("%d tokens for %d bytes: %v", tt.first, tt.prompt, got)
		}
	}
}

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
