package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"

	"reprise/fleet/store"

	"github.com/klauspost/compress/zstd"
)

// A sealed entry is: version (1 byte), salt (32), then AES-256-GCM's output for length (8), content
// and zeros. The key and nonce come from the salt, so that none of them repeats.
const (
	sealVersion = 1
	saltSize    = 32
	nonceSize   = 12
	keySize     = 32
	lengthSize  = 8
	headSize    = 1 + saltSize
)

// smallest is the size that short contents are padded to, in bytes.
const smallest = 2 << 10

// seal returns content sealed for one name in the store with this ID.
func (k *keys) seal(id, name string, content []byte) []byte {
	length := padded(lengthSize + len(content))
	sealed := make([]byte, headSize+length, headSize+length+16)
	sealed[0] = sealVersion
	rand.Read(sealed[1:headSize])
	plain := sealed[headSize:]
	binary.BigEndian.PutUint64(plain, uint64(len(content)))
	copy(plain[lengthSize:], content)
	aead, nonce := k.cipher(sealed[1:headSize])
	return aead.Seal(sealed[:headSize], nonce, plain, associated(id, name))
}

// unseal returns the content of an entry that was sealed for this name in this store. An entry of
// another version is damaged: that byte is no proof of anything. The format names a newer reprise.
func (k *keys) unseal(id, name string, sealed []byte) ([]byte, error) {
	if len(sealed) < headSize || sealed[0] != sealVersion {
		return nil, fmt.Errorf("%s: %w: it is no sealed entry", name, store.ErrBroken)
	}
	aead, nonce := k.cipher(sealed[1:headSize])
	plain, err := aead.Open(nil, nonce, sealed[headSize:], associated(id, name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: damaged, or sealed with another key or for another name",
			name, store.ErrBroken)
	}
	if len(plain) < lengthSize || binary.BigEndian.Uint64(plain) > uint64(len(plain)-lengthSize) {
		return nil, fmt.Errorf("%s: %w: wrong length", name, store.ErrBroken)
	}
	return plain[lengthSize : lengthSize+binary.BigEndian.Uint64(plain)], nil
}

// cipher returns the cipher and nonce of the one entry that has this salt.
func (k *keys) cipher(salt []byte) (cipher.AEAD, []byte) {
	b := must(hkdf.Key(sha256.New, k.contents, salt, "reprise store entry", keySize+nonceSize))
	return must(cipher.NewGCM(must(aes.NewCipher(b[:keySize])))), b[keySize:]
}

// must returns a value of a function that fails only for other sizes of keys or blocks.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// associated returns the data that bind an entry. An ID has always the same length.
func associated(id, name string) []byte { return append([]byte{sealVersion}, id+name...) }

// padded rounds a size up, to at most an eighth more.
func padded(n int) int {
	step := max(smallest, 1<<max(0, bits.Len(uint(n))-4))
	return (n + step - 1) / step * step
}

// The largest size of a register once unpacked. It is authentic: the limit is
// for mistakes.
const maxValue = 16 << 20

// Registers are compressed. Only other options make these fail.
var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0),
		zstd.WithDecoderMaxMemory(maxValue))
)
