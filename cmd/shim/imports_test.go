package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What only shimctl needs would cost every call its start-up.
func TestNothingHeavyIsLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	for _, heavy := range []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "net/http", "text/template", "html/template"} {
		if slices.Contains(linked, heavy) {
			t.Errorf("the shim links %s", heavy)
		}
	}
}
