package front

import (
	"fmt"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	tests := []struct {
		value string
		hops  int
		tried string
	}{
		{"", 0, ""},
		{"7", 0, ""},
		{"7:1", 0, ""},
		{"7:x:1.2", 0, ""},
		{"7:3:", 3, ""},
		{"7:3:1.2", 3, "1.2"},
		{"7:3:1.2,3.4", 3, "1.2,3.4"},
		{"8:3:1.2", 3, ""}, // a child's
		{"77:3:1.2", 3, ""},
		{"7:99999999999999999999:1.2", 0, ""},
		{"7:-5:1.2", 0, ""},
		{"7:+5:1.2", 0, ""},
		{"7::1.2", 0, ""},
		{"7:3:" + strings.Repeat("1.2,", 1000), 0, ""},
		{"7:3:@0,1.2", 0, ""},                 // long ago: a tool was at work in between
		{"7:3:@99999999999999,1.2", 3, "1.2"}, // a clock of another machine
		{"7:3:@99999999999999", 3, ""},
		{"8:3:@99999999999999,1.2", 3, ""},
	}
	for _, test := range tests {
		g := ReadGuard(test.value, 7, "")
		if g.Hops() != test.hops || g.Skip() != test.tried {
			t.Errorf("%q reads as %d, %q", test.value, g.Hops(), g.Skip())
		}
	}
	var g Guard
	for i := range 3 {
		g = ReadGuard(g.With(fmt.Sprintf("1.%x", i+10), 7), 7, "1.2")
	}
	if g.Hops() != 3 || !strings.Contains(g.With("1.d", 7), ":4:@") ||
		g.Skip() != "1.2,1.a,1.b,1.c" {
		t.Errorf("after three targets: %d, %q", g.Hops(), g.Skip())
	}
}
