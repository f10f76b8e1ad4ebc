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

// claude's names of directories: each UTF-16 unit that is no letter or digit of ASCII is a dash.
func TestDashed(t *testing.T) {
	for path, want := range map[string]string{
		"/work/My_app.d": "-work-My-app-d", "/x/\U0001F680app": "-x---app", "/\u00fc": "--",
		"/e\u0301": "-e-", "/\u65e5\u672c": "---",
	} {
		if got := Dashed(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
