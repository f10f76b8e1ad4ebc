package rewrite

import "strings"

// clockWords are the words that a line may hold beside a time and still say
// nothing but what time it is. A time beside any other word may name the very
// thing that the prompt is about ("the incident of 08:15"), and stays.
var clockWords = wordSet(`and as at current currently date datetime generated gmt is it last local now
	of on printed refreshed rendered the time timestamp today updated utc`)

var calendarWords = wordSet(`mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday
	jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august
	september october november december am pm`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// withoutClock gives a line with the time cut out of it, if it tells the time and
// nothing else, and any other line as it is.
func withoutClock(line string) string {
	const longest = 80
	if len(line) > longest || !mayHoldTime(line) {
		return line
	}
	var kept []string
	times, numbers, names := 0, 0, 0
	for _, word := range words(line) {
		switch {
		case clockWords[word]:
			kept = append(kept, word)
		case calendarWords[word]:
			names++
		case isTime(word):
			times++
		case isSmallNumber(word):
			numbers++
		default:
			return line
		}
	}
	// A lone number counts as part of a date only beside a month or a weekday.
	if len(kept) == 0 || times+names == 0 || numbers > 0 && names == 0 {
		return line
	}
	return "\x00clock " + strings.Join(kept, " ")
}

// mayHoldTime is a quick look for what every time or date has: two digits with one
// of its signs between them, or a year.
func mayHoldTime(line string) bool {
	digit := func(i int) bool { return i < len(line) && line[i] >= '0' && line[i] <= '9' }
	for i := range len(line) {
		if !digit(i) {
			continue
		}
		if i+1 < len(line) && strings.IndexByte(":-/.", line[i+1]) >= 0 && digit(i+2) {
			return true
		}
		if line[i] == '2' && digit(i+1) && digit(i+2) && digit(i+3) {
			return true
		}
	}
	return false
}

// words cuts a line into lower-case words, where a time or a date is one word.
func words(line string) []string {
	fields := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r > 0x7f:
			return false
		}
		return !strings.ContainsRune(":-+./", r)
	})
	trimmed := fields[:0]
	for _, f := range fields {
		if f = strings.Trim(f, ":-+./"); f != "" {
			trimmed = append(trimmed, f)
		}
	}
	return trimmed
}

// isTime tells whether a word has the form of a time of day, of a date with its
// year, or of both: groups of digits with single signs between them.
func isTime(word string) bool {
	groups := strings.FieldsFunc(strings.TrimSuffix(word, "z"), func(r rune) bool {
		return strings.ContainsRune(":-+./t", r)
	})
	size, year := len(groups)-1, false
	for _, g := range groups {
		if strings.Trim(g, "0123456789") != "" {
			return false
		}
		size += len(g)
		year = year || len(g) == 4
	}
	if len(groups) < 2 || size != len(strings.TrimSuffix(word, "z")) {
		return false
	}
	return strings.Contains(word, ":") || year && len(groups) == 3
}

func isSmallNumber(word string) bool {
	return len(word) <= 4 && strings.Trim(word, "0123456789") == ""
}
