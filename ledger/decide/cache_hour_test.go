package decide

import "testing"

func TestHourPaysFromTwoThirdsOn(t *testing.T) {
	for within, pays := range map[int64]bool{640: false, 660: true} {
		if got := (Reuse{Written: 1000, Within: within}).HourSaves() > 0; got != pays {
			t.Errorf("%d of 1000 tokens are needed again: %v", within, got)
		}
	}
	// Text written again for lack of an hour would not have been.
	if got := (Reuse{Written: 2000, Within: 1000, Again: 1000}).HourSaves(); got != 400 {
		t.Errorf("it saves %v", got)
	}
	// A model gains little by it if resumes find only half.
	if got := (Reuse{Written: 3000, Within: 2000,
		Expected: 1000, Found: 400}).HourSaves(); got >= 0 {
		t.Errorf("it saves %v", got)
	}
}
