package ledger

import (
	"encoding/binary"
	"encoding/json"

	"reprise/rewrite"
)

func encodeDigests(digests []rewrite.Digest) []byte {
	out := make([]byte, 0, len(digests)*rewrite.DigestSize)
	for i := range digests {
		out = append(out, digests[i][:]...)
	}
	return out
}

func decodeDigests(data []byte) []rewrite.Digest {
	out := make([]rewrite.Digest, len(data)/rewrite.DigestSize)
	for i := range out {
		copy(out[i][:], data[i*rewrite.DigestSize:])
	}
	return out
}

// encodeAnswer writes an answer behind those that stand in the column already:
// its length in bytes, the number of its lines, their digests.
func encodeAnswer(a rewrite.Answer) []byte {
	out := binary.AppendUvarint(nil, uint64(a.Bytes))
	out = binary.AppendUvarint(out, uint64(len(a.Lines)))
	return append(out, encodeDigests(a.Lines)...)
}

func decodeAnswers(data []byte) []rewrite.Answer {
	var out []rewrite.Answer
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		lines, m := binary.Uvarint(data[max(n, 0):])
		head := n + m
		if n <= 0 || m <= 0 || lines > uint64(len(data)-head)/rewrite.DigestSize {
			// A damaged column matches no transcript, which is the safe side.
			return append(out, rewrite.Answer{Lines: []rewrite.Digest{{}}})
		}
		end := head + int(lines)*rewrite.DigestSize
		out = append(out, rewrite.Answer{Bytes: int(size), Lines: decodeDigests(data[head:end])})
		data = data[end:]
	}
	return out
}

func encodeJSON(v any) string {
	text, _ := json.Marshal(v) // plain structs of our own: this can not fail
	return string(text)
}

func decodeJSON(text []byte, v any) error { return json.Unmarshal(text, v) }
