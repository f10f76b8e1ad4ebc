package ledger

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"

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

// appendNumbers encodes numbers that are not negative.
func appendNumbers(out []byte, numbers ...int) []byte {
	for _, n := range numbers {
		out = binary.AppendUvarint(out, uint64(n))
	}
	return out
}

// cutNumbers decodes so many numbers, and returns the data behind them. It is not ok if the data is
// damaged; the rest of the numbers is 0 then.
func cutNumbers(data []byte, count int) (numbers []int, rest []byte, ok bool) {
	numbers = make([]int, count)
	for i := range numbers {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > math.MaxInt32 {
			return numbers, nil, false
		}
		numbers[i], data = int(n), data[size:]
	}
	return numbers, data, true
}

// encodeAnswer encodes an answer to append to the column: the length in bytes, the number of the
// lines, their digests.
func encodeAnswer(a prompt.Answer) []byte {
	return append(appendNumbers(nil, a.Bytes, len(a.Lines)), encodeDigests(a.Lines)...)
}

// saidForms is how many other forms of each answer are in their column.
const saidForms = 2

// encodeSaid encodes the other forms of an answer the same way. A missing form is encoded as an
// answer without lines.
func encodeSaid(a prompt.Answer) []byte {
	var out []byte
	for _, form := range slices.Concat(a.Said, make([]prompt.Answer, saidForms))[:saidForms] {
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
		head, rest, ok := cutNumbers(data, 2)
		if !ok || head[1] > len(rest)/prompt.DigestSize {
			// A damaged column matches no transcript, which is safe.
			return append(out, prompt.Answer{Lines: []prompt.Digest{{}}})
		}
		end := head[1] * prompt.DigestSize
		out = append(out, prompt.Answer{Bytes: head[0], Lines: decodeDigests(rest[:end])})
		data = rest[end:]
	}
	return out
}

// encodeShape encodes three numbers, three digests, and two digests for each part.
func encodeShape(s prompt.Shape) []byte {
	digests := []prompt.Digest{s.Whole, s.Head, s.Tail}
	for _, part := range s.Parts {
		digests = append(digests, part.Name, part.Text)
	}
	return append(appendNumbers(nil, s.Size, s.HeadSize, s.FirstTurn+1), encodeDigests(digests)...)
}

// decodeShape decodes a shape. A damaged one decodes to the zero Shape, so that no delta is made
// from it.
func decodeShape(data []byte) prompt.Shape {
	numbers, rest, ok := cutNumbers(data, 3)
	digests := decodeDigests(rest)
	if !ok || len(digests) < 3 {
		return prompt.Shape{FirstTurn: -1}
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
	out, _ := binary.Append(nil, binary.BigEndian, marks) // it fails only for other types
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
