package grammar

import (
	"fmt"
	"strings"
	"testing"

	"reprise/rewrite"
)

func TestYargs(t *testing.T) {
	table := Options{
		{Setting, rewrite.NoValue, `--flag|-f --other-flag|-g`},
		{Setting, rewrite.OneValue, `--value|-v`},
		{Setting, rewrite.ManyValues, `--some-list|-l`},
		{Setting, rewrite.OptionalValue, `--maybe|-m`},
	}
	tests := []struct{ line, want string }{
		{"a b", "[a b]"},
		{"-f a", "--flag=true [a]"},
		{"-f true a", "--flag=true [a]"},
		{"--flag false a", "--flag=false [a]"},
		{"--no-flag true", "--flag=false [true]"},
		{"--noFlag", "unknown --noFlag"},
		{"--otherFlag --no-otherFlag", "--other-flag=true --other-flag=false []"},
		{"--no-value", "unknown --no-value"},
		{"--flag=true -g=false", "--flag=true --other-flag=false []"},
		{"--flag=1", "--flag=1 [] bad"},
		{"-v a b", "--value=a [b]"},
		{"-v=a=b --value=", "--value=a=b --value= []"},
		{"-v - a", "--value=- [a]"},
		{"-v -1 a", "--value=-1 [a]"},
		{"-v -x", "[] bad"},
		{"-v", "[] bad"},
		{"-va", "unknown -va"},
		{"-fgv a", "--flag=true --other-flag=true --value=a []"},
		{"-fv=a", "unknown -fv=a"},
		{"-l a b -l c", "--some-list=a --some-list=c [b]"},
		{"-m a -m -f", "--maybe=a --maybe= --flag=true []"},
		{"- a", "[- a]"},
		{"a -- b", "[a] bad"},
		{"--nonsense a", "unknown --nonsense"},
	}
	for _, tt := range tests {
		args := strings.Fields(tt.line)
		p := Yargs(args, table)
		var got []string
		for _, o := range p.Options {
			got = append(got, o.Names[0]+"="+strings.Join(o.Values, ","))
		}
		var operands []string
		for _, s := range p.Operands {
			operands = append(operands, args[s.At])
		}
		if p.Unknown == "" {
			got = append(got, fmt.Sprint(operands))
		} else {
			got = append(got, "unknown", p.Unknown)
		}
		if p.Bad {
			got = append(got, "bad")
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%q: %q, want %q", tt.line, text, tt.want)
		}
	}
}
