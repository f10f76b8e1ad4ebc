package base

import "testing"

func TestAtLeast(t *testing.T) {
	tests := []struct {
		version string
		want    bool
	}{{"2.1.293", true}, {"2.1.292", false}, {"2.1.1000", true}, {"2.2.0", true},
		{"2.0.999", false}, {"3.0.0", true}, {"1.9.999", false},
		{"", true}, {"2.1", true}, {"x.y.z", true}, {"2.1.293-beta", true}, {"2.1.300.1", true}}
	for _, tt := range tests {
		if got := AtLeast(tt.version, 2, 1, 293); got != tt.want {
			t.Errorf("%q: %v", tt.version, got)
		}
	}
}
