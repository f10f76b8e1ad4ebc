package store

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// keySize is the size of a store's key, in bytes.
const keySize = 32

// A Key is a store's key.
type Key [keySize]byte

// ReadKey reads a key from text, or where that is empty from a file.
func ReadKey(text, file string) (key Key, err error) {
	if text != "" || file == "" {
		key, err = parseKey(text)
	} else {
		key, err = readKeyFile(file)
	}
	if err != nil {
		err = fmt.Errorf("%w: read the store's key: %w", ErrKey, err)
	}
	return key, err
}

// Derive returns a key for one use. The key for digests of prompts has the use "digests".
func (k Key) Derive(use string) []byte {
	b, err := hkdf.Key(sha256.New, k[:], nil, "reprise store "+use, keySize)
	if err != nil {
		panic(err) // it fails only for longer keys
	}
	return b
}

// parseKey reads a key from text: 64 hexadecimal digits or 44 characters of base64. No error
// contains a part of a key.
func parseKey(text string) (key Key, err error) {
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

// readKeyFile reads a key from a regular file that others can neither read nor write.
func readKeyFile(name string) (key Key, err error) {
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
	if key, err = parseKey(string(text)); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return key, err
}
