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
	for _, tt := range []struct {
		first, held        int64
		sent               int
		forgotten, resumed int64
	}{
		{12_947, 12_953, 324, 12_370, 13_049}, // claude 2.1.332 after a prompt of 2.6 kB
		{13_000, 150_000, 5_600, 13_500, 90_000},
		{13_000, 45_000, 400, 12_450, 13_300},   // two thirds were thoughts
		{13_000, 13_200, 5_600, 13_500, 14_600}, // more was added than the prompt had
		{22_500, 22_600, 330, 21_730, 22_600},   // many tools, after a prompt of 3.4 kB
		{100_000, 130_000, 400, 14_000, 66_000}, // old results of tools are left out
		{100_000, 20_000, 400, 13_000, 20_000},  // it was compacted since
		{0, 0, 0, -1, 0},
	} {
		if least := LeastFirstRequest(tt.first, tt.held, tt.sent); tt.forgotten >= least ||
			tt.resumed < least {
			t.Errorf("after %d, %d: at least %d, want it between %d and %d", tt.first, tt.held,
				least, tt.forgotten, tt.resumed)
		}
	}
}

func TestIsForgotten(t *testing.T) {
	for _, tt := range []struct {
		resumed, fresh int64
		left           int
		want           bool
	}{
		{12_370, 12_970, 2_400, true},  // claude 2.1.332: only the new part of the prompt
		{13_049, 12_970, 2_400, false}, // the session, and a short answer
		{12_990, 12_970, 0, true},      // the whole prompt, and nothing else
		{14_600, 12_970, 0, false},
		{9_100, 9_020, 2_400, false}, // there are fewer tools, and the session is there
	} {
		if got := IsForgotten(tt.resumed, tt.fresh, tt.left); got != tt.want {
			t.Errorf("%d tokens, fresh %d: %v", tt.resumed, tt.fresh, got)
		}
	}
}
