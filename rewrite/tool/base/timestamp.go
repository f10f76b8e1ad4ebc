package base

// TimestampMillis returns the milliseconds since 1970 of a time in UTC as JavaScript writes it
// (2026-11-22T15:37:36.811Z). ok is false for any other text.
func TimestampMillis(text string) (millis int64, ok bool) {
	const form = "0000-00-00T00:00:00.000Z"
	if len(text) != len(form) {
		return 0, false
	}
	for i := range len(form) {
		if digit := text[i] >= '0' && text[i] <= '9'; digit != (form[i] == '0') ||
			!digit && text[i] != form[i] {
			return 0, false
		}
	}
	number := func(from, to int) (n int64) {
		for _, digit := range []byte(text[from:to]) {
			n = 10*n + int64(digit-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	// The year begins in March, so that the leap day is the last.
	if month <= 2 {
		year--
		month += 12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
	seconds := ((days*24+number(11, 13))*60+number(14, 16))*60 + number(17, 19)
	return seconds*1000 + number(20, 23), true
}
