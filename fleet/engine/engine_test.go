package engine_test

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"reprise/fleet/engine"
	"reprise/fleet/store"
)

func TestOpen(t *testing.T) {
	for text, want := range map[string]string{
		"s3://bucket/prefix":                "",
		"postgres://u:hush@127.0.0.1/db":    "",
		"postgresql://u:hush@127.0.0.1/db":  "",
		"":                                  "must begin with",
		"bucket":                            "must begin with",
		"https://u:hush@host/":              "must begin with",
		"postgres://u:hush#more@host/db":    "cannot be parsed",
		"postgres://u:%hush@host/db":        "cannot be parsed",
		"postgres://u:hush@host:hush/db":    "cannot be parsed",
		"s3://id:hush@bucket":               "must not contain credentials",
		"postgres://u:hush@h/db?sslmode=no": "not one that libpq understands",
	} {
		s, err := engine.Open(t.Context(), text)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") || s != nil) {
			t.Errorf("%s: %v, %v", text, s, err)
		}
		if err == nil {
			s.Close()
		}
	}
}

// What the server cannot be asked is not said with the password either.
func TestUnreachable(t *testing.T) {
	s, err := engine.Open(t.Context(), "postgres://u:hush@127.0.0.1:1/db?password=hush")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Read(t.Context(), store.MaxRegister, "key")
	if !errors.Is(err, store.ErrUnreachable) || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// The engines are linked into the helper alone: they would make every other program start more slowly.
func TestWhoLinksEngines(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "reprise/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		helper := fields[0] == "reprise/cmd/reprise-store" || strings.HasPrefix(fields[0], "reprise/test/")
		if !helper && slices.Contains(fields[1:], "reprise/fleet/engine") {
			t.Errorf("%s links the engines", fields[0])
		}
	}
}
