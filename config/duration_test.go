package config

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"1w": 7 * day, "7d": 7 * day, "36h": 36 * time.Hour, "1d12h": 36 * time.Hour,
		"2w3d4h5m6s": 17*day + 4*time.Hour + 5*time.Minute + 6*time.Second,
		"1.5d":       36 * time.Hour, ".5w": 84 * time.Hour, "90m": 90 * time.Minute,
		"1h30m": 90 * time.Minute, "300ms": 300 * time.Millisecond, "0": 0, "0d": 0,
		"-5h": -5 * time.Hour,
	} {
		if d, err := ParseDuration(text); err != nil || d != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "7", "d", "1d2", "1h2d", "1d2w", "-1d", "1d-2h", "+1d", "1ed",
		"1e3d", "infd", "nand", "0x1d", "1.2.3d", "1 d", "1dd",
		"1d1d", "99999999999w", "1d2540400h", "tomorrow", "1µd"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("%q is taken for %v", text, d)
		}
	}
}
