package base

import (
	"testing"
	"time"
)

func TestTimestampMillis(t *testing.T) {
	for _, text := range []string{
		"1970-01-01T00:00:00.000Z", "2026-11-22T15:37:36.811Z", "2024-02-29T23:59:59.999Z",
		"2100-03-01T00:00:00.001Z", "2000-12-31T12:00:00.500Z",
	} {
		want, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := TimestampMillis(text); !ok || got != want.UnixMilli() {
			t.Errorf("%s: %d, %v, want %d", text, got, ok, want.UnixMilli())
		}
	}
	for _, text := range []string{"", "2026-11-22T15:37:36Z", "2026-11-22T15:37:36.811+",
		"2026-11-22 15:37:36.811Z", "2026-1a-22T15:37:36.811Z"} {
		if got, ok := TimestampMillis(text); ok {
			t.Errorf("%q: %d", text, got)
		}
	}
}
