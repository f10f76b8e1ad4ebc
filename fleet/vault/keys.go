package vault

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"reprise/fleet/store"
)

// keySize is the size of a store's key, in bytes.
const keySize = 32

// A Key is a store's key.
type Key [keySize]byte

// ParseKey reads a key from text: 64 hexadecimal digits or 44 characters of base64. No error
// contains a part of a key.
func ParseKey(text string) (key Key, err error) {
	text = strings.TrimSpace(text)
	var b []byte
	switch {
	case text == "":
		return Key{}, errors.New("the store has no key")
	case len(text) == hex.EncodedLen(keySize):
		b, err = hex.DecodeString(text)
	default:
		b, err = base64.StdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").
			Replace(text))
	}
	if err != nil || len(b) != keySize {
		return Key{}, errors.New("not 32 bytes as 64 hexadecimal digits or 44 characters of base64")
	}
	return Key(b), nil
}

// ReadKeyFile reads a key from a regular file that others can neither read nor write.
func ReadKeyFile(name string) (key Key, err error) {
	// a pipe without a writer would block
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return key, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return key, err
	}
	if !info.Mode().IsRegular() {
		return key, fmt.Errorf("%s is no regular file", name)
	}
	if info.Mode()&0o027 != 0 { // a group that reads it is how Kubernetes hands out secrets
		return key, fmt.Errorf("other users can read or write %s: mode %#o, should be 0400 or 0440",
			name, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return key, err
	}
	if key, err = ParseKey(string(text)); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return key, err
}

// keys are derived from one Key, apart for each use.
type keys struct {
	names    []byte
	digests  []byte
	contents []byte
}

func derive(key Key) *keys {
	expand := func(use string) []byte {
		b, err := hkdf.Key(sha256.New, key[:], nil, "reprise store "+use, keySize)
		if err != nil {
			panic(err) // it fails only for longer keys
		}
		return b
	}
	return &keys{names: expand("names"), digests: expand("digests"), contents: expand("contents")}
}

// sum returns a keyed digest of a list of texts.
func (k *keys) sum(texts ...string) string {
	mac := hmac.New(sha256.New, k.names)
	for _, text := range texts {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		mac.Write([]byte(text))
	}
	return hex.EncodeToString(mac.Sum(nil))
}

func (k *keys) entry(name store.Name) string {
	return k.entries(name) + k.sum(append([]string{"id", name.ID}, name.Of...)...)[:32]
}

// entries returns the prefix of all registers of a name, whatever the ID. A name without texts
// stands for all of its kind.
func (k *keys) entries(name store.Name) string {
	prefix := map[string]string{store.Task: "t/", store.Opening: "o/"}[name.Kind]
	if len(name.Of) == 0 {
		return prefix
	}
	return prefix + k.sum(append([]string{name.Kind}, name.Of...)...) + "/"
}
