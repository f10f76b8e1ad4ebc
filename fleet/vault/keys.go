package vault

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"reprise/fleet/store"
)

// keys are derived from one Key, apart for each use.
type keys struct{ names, contents []byte }

func derive(key store.Key) *keys {
	return &keys{names: key.Derive("names"), contents: key.Derive("contents")}
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
