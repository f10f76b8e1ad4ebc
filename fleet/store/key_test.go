package store

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	keyA := Key(bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 4))
	keyB := Key(bytes.Repeat([]byte{2, 3, 4, 5, 6, 7, 8, 9}, 4))
	hexA, hexB := hex.EncodeToString(keyA[:]), strings.ToUpper(hex.EncodeToString(keyB[:]))
	base := base64.StdEncoding.EncodeToString(keyA[:])
	for text, want := range map[string]Key{
		hexA: keyA, base + "\n": keyA, " " + hexB + "\n": keyB,
		"": {}, ",": {}, hexA[1:]: {}, hexA[:63] + "g": {}, base[:43]: {}, hexA + "," + base: {},
		"secret":                             {},
		hexA + "," + strings.Repeat("z", 64): {},
	} {
		got, err := ReadKey(text, "")
		if got != want || (err == nil) != (want != Key{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), hexA[:20]) ||
			strings.Contains(err.Error(), "zzz") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("an error contains the key: %v", err)
		}
	}
	name := filepath.Join(t.TempDir(), "key")
	os.WriteFile(name, []byte(hexA), 0o600)
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o440: true, 0o644: false,
		0o404: false, 0o620: false, 0o602: false} {
		os.Chmod(name, mode)
		if key, err := ReadKey("", name); (err == nil) != ok || ok && key != keyA {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if key, err := ReadKey(hexB, name); err != nil || key != keyB {
		t.Errorf("a text and a file: %v", err)
	}
	for _, name := range []string{name + "none", filepath.Dir(name), "/dev/null"} {
		if _, err := ReadKey("", name); !errors.Is(err, ErrKey) {
			t.Errorf("read %s", name)
		}
	}
	a := keyA.Derive("names")
	if bytes.Equal(a, keyA.Derive("digests")) || bytes.Equal(a, keyB.Derive("names")) ||
		len(a) != 32 {
		t.Error("one key has two uses")
	}
	// Machines with other versions derive the same.
	const digests = "047a1c57d189910dd448513156f748ae47bfbb7e5702694843de7e011ea60a87"
	if got := hex.EncodeToString(keyA.Derive("digests")); got != digests {
		t.Errorf("the key for digests is %s", got)
	}
}
