package ledger

import (
	"encoding/binary"
	"encoding/json"

	"reprise/rewrite/prompt"
)

func encodeDigests(digests []prompt.Digest) []byte {
	out := make([]byte, 0, len(digests)*prompt.DigestSize)
	for i := range digests {
		out = append(out, digests[i][:]...)
	}
	return out
}

func decodeDigests(data []byte) []prompt.Digest {
	out := make([]prompt.Digest, len(data)/prompt.DigestSize)
	for i := range out {
		copy(out[i][:], data[i*prompt.DigestSize:])
	}
	return out
}

// encodeAnswer encodes an answer to append to the column: the length in bytes, the number of the
// lines, their digests.
func encodeAnswer(a prompt.Answer) []byte {
	out := binary.AppendUvarint(nil, uint64(a.Bytes))
	out = binary.AppendUvarint(out, uint64(len(a.Lines)))
	return append(out, encodeDigests(a.Lines)...)
}

// saidForms is how many other forms of each answer are in their column.
const saidForms = 2

// encodeSaid encodes the other forms of an answer the same way. A missing form is encoded as an
// answer without lines.
func encodeSaid(a prompt.Answer) []byte {
	var out []byte
	for i := range saidForms {
		var form prompt.Answer
		if i < len(a.Said) {
			form = a.Said[i]
		}
		out = append(out, encodeAnswer(form)...)
	}
	return out
}

// decodeAnswers decodes the answers with their other forms.
func decodeAnswers(answers, said []byte) []prompt.Answer {
	out, forms := decodeForms(answers), decodeForms(said)
	if len(forms) != saidForms*len(out) {
		return out // damaged
	}
	for i := range out {
		if own := forms[saidForms*i : saidForms*(i+1)]; len(own[0].Lines) > 0 {
			out[i].Said = own
		}
	}
	return out
}

func decodeForms(data []byte) []prompt.Answer {
	var out []prompt.Answer
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		lines, m := binary.Uvarint(data[max(n, 0):])
		head := n + m
		if n <= 0 || m <= 0 || lines > uint64(len(data)-head)/prompt.DigestSize {
			// A damaged column matches no transcript, which is safe.
			return append(out, prompt.Answer{Lines: []prompt.Digest{{}}})
		}
		end := head + int(lines)*prompt.DigestSize
		out = append(out, prompt.Answer{Bytes: int(size), Lines: decodeDigests(data[head:end])})
		data = data[end:]
	}
	return out
}

// encodeLines encodes how many lines each block has.
func encodeLines(lines []int) []byte {
	out := make([]byte, 0, len(lines))
	for _, n := range lines {
		out = binary.AppendUvarint(out, uint64(n))
	}
	return out
}

func decodeLines(data []byte) []int {
	var out []int
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			return nil
		}
		out, data = append(out, int(n)), data[size:]
	}
	return out
}

// encodeShape encodes three numbers, three digests, and two digests for each part.
func encodeShape(s prompt.Shape) []byte {
	out := binary.AppendUvarint(nil, uint64(s.Size))
	out = binary.AppendUvarint(out, uint64(s.HeadSize))
	out = binary.AppendUvarint(out, uint64(s.FirstTurn+1))
	out = append(out, encodeDigests([]prompt.Digest{s.Whole, s.Head, s.Tail})...)
	for _, part := range s.Parts {
		out = append(out, encodeDigests([]prompt.Digest{part.Name, part.Text})...)
	}
	return out
}

// decodeShape decodes a shape. A damaged one decodes to the zero Shape, so that no delta is made
// from it.
func decodeShape(data []byte) prompt.Shape {
	none := prompt.Shape{FirstTurn: -1}
	var numbers [3]int
	for i := range numbers {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			return none
		}
		numbers[i], data = int(n), data[size:]
	}
	digests := decodeDigests(data)
	if len(digests) < 3 {
		return none
	}
	s := prompt.Shape{Size: numbers[0], HeadSize: numbers[1], FirstTurn: numbers[2] - 1,
		Whole: digests[0], Head: digests[1], Tail: digests[2]}
	for parts := digests[3:]; len(parts) > 1; parts = parts[2:] {
		s.Parts = append(s.Parts, prompt.Part{Name: parts[0], Text: parts[1]})
	}
	return s
}

const markSize = 8

func encodeMarks(marks []prompt.WordDigest) []byte {
	out := make([]byte, 0, len(marks)*markSize)
	for _, m := range marks {
		out = binary.BigEndian.AppendUint64(out, uint64(m))
	}
	return out
}

func decodeMarks(data []byte) []prompt.WordDigest {
	out := make([]prompt.WordDigest, len(data)/markSize)
	for i := range out {
		out[i] = prompt.WordDigest(binary.BigEndian.Uint64(data[i*markSize:]))
	}
	return out
}

// EncodeJSON returns a value as SQL and the files beside the ledger take it.
func EncodeJSON(v any) string {
	text, _ := json.Marshal(v) // plain structs of our own: this cannot fail
	return string(text)
}
