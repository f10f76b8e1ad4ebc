package view

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// MinuteFormat is the layout of a time up to the minute.
const MinuteFormat = "2006-01-02 15:04"

// Thousands writes a whole number with commas between the thousands.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// ShortNumber writes a number with at most four digits and a unit prefix.
func ShortNumber(n int64) string {
	f := float64(n)
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_950:
		return fmt.Sprintf("%.1f k", f/1e3)
	case n < 999_950_000:
		return fmt.Sprintf("%.1f M", f/1e6)
	}
	return fmt.Sprintf("%.1f G", f/1e9)
}

// Count writes a number and the noun, in the plural unless the number is 1.
func Count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", Thousands(n), noun)
}

// Size writes a number of bytes.
func Size(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	return ShortNumber(bytes) + "B"
}

// Duration writes a duration in the two largest units.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}

// dollars rounds billionths of a dollar for people. A small amount is never shown as nothing.
func dollars(nano int64) string {
	sign, nano := splitSign(nano)
	d := float64(nano) / 1e9
	switch {
	case nano == 0:
		return "$0"
	case d < 0.0001:
		return sign + "<$0.0001"
	case d < 0.1:
		return fmt.Sprintf("%s$%.4f", sign, d)
	case d >= 1000:
		return sign + "$" + Thousands(int64(d+0.5))
	}
	return fmt.Sprintf("%s$%.2f", sign, d)
}

// exactDollars writes billionths of a dollar as dollars with all their digits.
func exactDollars(nano int64) string {
	sign, nano := splitSign(nano)
	return fmt.Sprintf("%s%d.%09d", sign, nano/1e9, nano%1e9)
}

func splitSign(n int64) (sign string, absolute int64) {
	if n < 0 {
		return "-", -n
	}
	return "", n
}

// Amount writes a figure for people. The unit is share, nano_usd, ms, tokens or calls, for a mean.
func Amount(unit string, n Number) string { return AmountCell(unit, n).Human }

// AmountCell returns a cell with an amount in the unit. Programs read a percentage, dollars
// or milliseconds.
func AmountCell(unit string, n Number) Cell {
	if !n.Known() {
		return UnknownCell()
	}
	human, plain := inUnit(unit, float64(n))
	return Cell{Human: unsignedZero(human), Raw: unsignedZero(plain), Right: true}
}

// unsignedZero takes the sign off a figure that is rounded to 0.
func unsignedZero(text string) string {
	if strings.Trim(text, "-0. %$ms") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

func inUnit(unit string, n float64) (human, plain string) {
	whole := int64(math.Round(n))
	sign, size := splitSign(whole)
	plain = strconv.FormatFloat(n, 'f', 0, 64)
	switch unit {
	case "share":
		return fmt.Sprintf("%.0f %%", 100*n), fmt.Sprintf("%.1f%%", 100*n)
	case "nano_usd":
		return dollars(whole), exactDollars(whole)
	case "calls":
		return fmt.Sprintf("%.1f", n), fmt.Sprintf("%.2f", n)
	case "ms":
		return sign + Duration(time.Duration(size)*time.Millisecond), plain
	}
	return sign + ShortNumber(size), plain
}

// A Number is a figure that might be unknown: NaN, which is null in JSON.
type Number float64

// Unknown is a figure that is not known.
var Unknown = Number(math.NaN())

// Known reports whether the figure is known. A quotient by 0 is not.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON returns the figure, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Rate returns part / whole, which is not known if whole is 0.
func Rate(part, whole int64) Number {
	if whole == 0 {
		return Unknown
	}
	return Number(part) / Number(whole)
}
