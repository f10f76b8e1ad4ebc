package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var errNoSize = errors.New("not a size")

// sizeUnits are the units of a size, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}}

// parseSize reads a whole number of KB, MB or GB, and returns its bytes.
func parseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		number, found := strings.CutSuffix(text, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
		if err != nil {
			return 0, errNoSize
		}
		return int64(n) * unit.bytes, nil
	}
	return 0, errNoSize
}

// writtenSize formats a size as parseSize reads it.
func writtenSize(n int64) string {
	for _, unit := range sizeUnits {
		if n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(n>>10, 10) + "KB"
}

func size[T any](least, most int64, field func(*T) *int64) value[T] {
	return value[T]{form{kind: "string", pattern: `^\d+ *(KB|MB|GB)$`}, func(t *T, value any) error {
		text, ok := value.(string)
		if !ok {
			return &mistake{"must be a size in quotes, not " + kind(value), sizeHint}
		}
		n, err := parseSize(text)
		if err != nil {
			return &mistake{fmt.Sprintf("%q is not a size", text), sizeHint}
		}
		if n < least || n > most {
			return &mistake{fmt.Sprintf("must be from %s to %s, not %s", writtenSize(least), writtenSize(most), text), ""}
		}
		*field(t) = n
		return nil
	}}
}

const sizeHint = `write a whole number and its unit (KB, MB, GB), as in "64MB"`
