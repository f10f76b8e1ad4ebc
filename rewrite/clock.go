package rewrite

import (
	"strings"
	"sync"
)

// A wordSet is a set of the words of a text. It is made when it is first asked: every
// call of a shim would have to wait for what is made at the start.
type wordSet struct {
	words string
	once  sync.Once
	set   map[string]bool
}

func (s *wordSet) has(word string) bool {
	s.once.Do(func() {
		s.set = map[string]bool{}
		for _, w := range strings.Fields(s.words) {
			s.set[w] = true
		}
	})
	return s.set[word]
}

// clockWords are the words that a line may hold beside a time and still say
// nothing but what time it is. A time beside any other word may name the very
// thing that the prompt is about ("the incident of 08:15"), and stays.
var clockWords = wordSet{words: `and as at current currently date datetime generated gmt is it last local now
	of on refreshed rendered the time timestamp today updated utc`}

// nowWords are those of them that say that the time is that of writing. Without
// one, the time may be a parameter ("Date: ...", "Timestamp: ...").
var nowWords = wordSet{words: "current currently generated now refreshed rendered"}

var calendarWords = wordSet{words: `mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday
	jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august
	september october november december am pm`}

// withoutClock returns a line with the time cut out of it, if it tells the time of
// the day and nothing else, and any other line as it is. A date alone stays: it
// changes once in a session's life at most, and often names the job. So does a line
// that starts with its time, as those of a log do.
func withoutClock(line string) string {
	const longest = 80
	if len(line) > longest || !mayHoldTime(line) {
		return line
	}
	var kept []string
	now, clock, date, numbers, names := false, false, false, 0, 0
	for _, word := range words(line) {
		switch {
		case clockWords.has(word):
			kept = append(kept, word)
			now = now || nowWords.has(word)
		case len(kept) == 0:
			return line
		case calendarWords.has(word):
			names++
		case isClock(word):
			clock = true
			date = date || strings.Contains(word, "t")
		case isDate(word):
			date = true
		case isSmallNumber(word):
			numbers++
		default:
			return line
		}
	}
	// A lone number counts as part of a date only beside a month or a weekday. A time without its date may be a
	// parameter ("Now: 22:00").
	date = date || numbers > 0 && names > 0
	if !now || !clock || !date || numbers > 0 && names == 0 {
		return line
	}
	return "\x00clock " + strings.Join(kept, " ")
}

// mayHoldTime is a quick look for what every time of day has: a colon between two
// digits.
func mayHoldTime(line string) bool {
	digit := func(i int) bool { return i >= 0 && i < len(line) && line[i] >= '0' && line[i] <= '9' }
	for i := range len(line) {
		if line[i] == ':' && digit(i-1) && digit(i+1) {
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

// isClock reports whether a word is a time of day, alone or behind a date, with or
// without seconds, their fraction and a zone.
func isClock(word string) bool {
	if date, clock, ok := strings.Cut(word, "t"); ok {
		if !isDate(date) {
			return false
		}
		word = clock
	}
	word = strings.TrimSuffix(word, "z")
	if i := strings.IndexAny(word, "+-"); i >= 0 {
		if zone := strings.Replace(word[i+1:], ":", "", 1); len(zone) != 4 || !digits(zone) {
			return false
		}
		word = word[:i]
	}
	hour, rest, _ := strings.Cut(word, ":")
	minute, second, seconds := strings.Cut(rest, ":")
	second, fraction, _ := strings.Cut(second, ".")
	return len(hour) >= 1 && len(hour) <= 2 && digits(hour) && len(minute) == 2 && digits(minute) &&
		(!seconds || len(second) == 2) && digits(second) && digits(fraction)
}

// isDate reports whether a word is a date with its year.
func isDate(word string) bool {
	for _, sign := range []string{"-", "/", "."} {
		groups := strings.Split(word, sign)
		if len(groups) != 3 {
			continue
		}
		year, most := false, 0
		for _, g := range groups {
			if !digits(g) || g == "" {
				return false
			}
			year = year || len(g) == 4
			most = max(most, len(g))
		}
		return year && most == 4
	}
	return false
}

func digits(text string) bool { return strings.Trim(text, "0123456789") == "" }

func isSmallNumber(word string) bool {
	return len(word) <= 4 && digits(word)
}
