package markers

import (
	"context"
	"net/http"
	"time"

	"reprise/internal/standin"
)

// A spoken is a text that is sent in pieces.
type spoken struct {
	text  string
	pause time.Duration // between about ten pieces
	hangs bool          // nothing comes after the first piece
}

// Hangs returns a reply that never ends.
func Hangs(text string) standin.Reply {
	return standin.Reply{Text: text, Say: spoken{text: text, hangs: true}.say}
}

// say does not return if the text hangs or the client is gone.
func (s spoken) say(ctx context.Context, emit func(piece string)) {
	for i, piece := range pieces(s.text, s.pause > 0) {
		if i > 0 {
			wait(ctx, s.pause)
		}
		emit(piece)
		if s.hangs {
			wait(ctx, time.Minute)
			panic(http.ErrAbortHandler)
		}
	}
}

// wait aborts the answer when the client is gone.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
		panic(http.ErrAbortHandler)
	}
}

// pieces cuts a text between characters: into about ten pieces, or so that no event is huge. An
// empty text is one piece, since the CLIs expect one.
func pieces(text string, slowly bool) []string {
	runes := []rune(text)
	size := 64 << 10
	if slowly {
		size = max(1, (len(runes)+9)/10)
	}
	cut := []string{}
	for len(runes) > size {
		cut, runes = append(cut, string(runes[:size])), runes[size:]
	}
	return append(cut, string(runes))
}
