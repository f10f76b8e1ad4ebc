package base

import "time"

// TimestampMillis returns the milliseconds since 1970 of a time in UTC as JavaScript writes it
// (2026-11-22T15:37:36.811Z). ok is false for any other text.
func TimestampMillis(text string) (millis int64, ok bool) {
	at, err := time.Parse("2006-01-02T15:04:05.000Z", text)
	return at.UnixMilli(), err == nil
}
