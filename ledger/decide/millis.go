package decide

import "time"

// Millis is a point in time or a duration in milliseconds. Points count from the Unix epoch.
type Millis int64

// MillisOf returns a point in time.
func MillisOf(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time returns the point in time in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }
