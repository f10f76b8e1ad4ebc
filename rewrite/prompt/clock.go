package prompt

import (
	"regexp"
	"strings"
	"sync"
)

// anyOf returns a function that reports whether a word is one of some words. The set is built on
// first use, since anything built at start delays every call.
func anyOf(words string) func(word string) bool {
	set := sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for word := range strings.FieldsSeq(words) {
			set[word] = true
		}
		return set
	})
	return func(word string) bool { return set()[word] }
}

// clockWords are the words that can be beside a time in a line that only tells the time. A time
// beside any other word can be the subject of the prompt ("the incident of 08:15") and stays.
var clockWords = anyOf(`and as at current currently date datetime generated gmt is it
	last local now of on refreshed rendered the time timestamp today updated utc`)

// nowWords are the clockWords that mark the time of writing. Without one, the time can be a
// parameter ("Date: ...", "Timestamp: ...").
var nowWords = anyOf("current currently generated now refreshed rendered")

var calendarWords = anyOf(calendarNames)

const calendarNames = `mon tue wed thu fri sat sun monday tuesday wednesday thursday friday
	saturday sunday jan feb mar apr may jun jul aug sep sept oct nov dec january february march
	april june july august september october november december am pm`

// stripClock returns a line without the time if the line contains nothing but the time of day,
// otherwise unchanged. A date alone stays: it changes at most once in a session's life and often
// names the job. A line that starts with its time stays too, as in logs.
func stripClock(line string) string {
	const longest = 80
	// there is no time of day without a colon
	if len(line) > longest || !strings.Contains(line, ":") {
		return line
	}
	var kept []string
	var now, clock, date, number, name bool // name is of a month or a weekday
	for word := range strings.FieldsFuncSeq(strings.ToLower(line), func(r rune) bool {
		return strings.ContainsRune(" \t!\"#$%&'()*,;<=>?@[\\]^_`{|}~", r)
	}) {
		switch word = strings.Trim(word, ":-+./"); {
		case word == "":
		case clockWords(word):
			kept = append(kept, word)
			now = now || nowWords(word)
		case len(kept) == 0:
			return line
		case calendarWords(word):
			name = true
		case isClock(word):
			clock, date = true, date || strings.Contains(word, "t")
		case isDate(word):
			date = true
		case len(word) <= 4 && digits(word):
			number = true
		default:
			return line
		}
	}
	// A time without the date can be a parameter ("Now: 22:00"), and a lone number belongs to a
	// date only beside a month or a weekday.
	if now && clock && (number && name || !number && date) {
		return "\x00clock " + strings.Join(kept, " ")
	}
	return line
}

// datePattern matches a date of numbers, apart by one of three signs.
const datePattern = `(?:\d{4}-\d\d?-\d\d?|\d\d?-\d\d?-\d{4}|\d{4}/\d\d?/\d\d?|\d\d?/\d\d?/\d{4}|` +
	`\d{4}\.\d\d?\.\d\d?|\d\d?\.\d\d?\.\d{4})`

var isDate = matcher(`^` + datePattern + `$`)

// isClock reports whether a word is a time of day, optionally after a date, with or without
// seconds, fraction and zone.
var isClock = matcher(`^(?:` + datePattern + `t)?\d\d?:\d\d(?::\d\d(?:\.\d*)?)?` +
	`(?:[+-]:*(?:\d:*){4})?z?$`)

func matcher(pattern string) func(word string) bool {
	expression := compiled(pattern)
	return func(word string) bool { return expression().MatchString(word) }
}

// compiled returns a function that compiles a pattern when it is first needed.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func digits(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
