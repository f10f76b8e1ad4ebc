package toolbox

import (
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Everything reports whether tests try all cases, and not a drawn part: if $REPRISE_ALL is set.
func Everything() bool { return os.Getenv("REPRISE_ALL") != "" }

// Long skips a test that takes long: it builds programs, or plays many calls. It is run if
// $REPRISE_E2E is set, or an option of the package's long tests, such as -faults.all.
func Long(t testing.TB) {
	t.Helper()
	asked := os.Getenv("REPRISE_E2E") != ""
	flag.Visit(func(f *flag.Flag) {
		of, _, long := strings.Cut(f.Name, ".")
		asked = asked || long && of != "test"
	})
	if !asked {
		t.Skip("set REPRISE_E2E=sample to run it")
	}
}

// Part returns how many of so many cases a test draws: a fifth, or all.
func Part(cases int) int {
	if Everything() {
		return cases
	}
	return cases / 5
}

// Seed returns $REPRISE_SAMPLE. If that is not set, it is drawn once for all tests, and a test that
// fails prints it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv("REPRISE_SAMPLE")
	if text == "" {
		t.Logf("drawn by REPRISE_SAMPLE=%d", drawn)
		return drawn
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal("REPRISE_SAMPLE is no number:", err)
	}
	return n
}

var drawn = rand.Uint64N(1e9)
