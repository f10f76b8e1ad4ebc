package grammar

import (
	"strings"
	"testing"
)

func FuzzParseHelp(f *testing.F) {
	f.Add("  -p, --print  Print\n      --model <m>  M\n  -r, --resume [v]\n  --tools <t...>\n")
	f.Add("  --a, --b=<x>\n")
	f.Fuzz(func(t *testing.T, help string) {
		for _, o := range ReadProbe(help, false, "--help").Options {
			for i, name := range o.Names {
				if !strings.HasPrefix(name, "-") || len(name) < 2 ||
					strings.ContainsAny(name, " =,<[") || i == 0 && !strings.HasPrefix(name, "--") {
					t.Fatalf("%q: %q", help, o.Names)
				}
				if !strings.Contains(help, name) {
					t.Fatalf("%q does not list %q", help, name)
				}
			}
		}
	})
}
