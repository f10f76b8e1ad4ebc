package decide

import (
	"slices"
	"testing"

	"reprise/rewrite/reason"
)

func TestDigestsDiffer(t *testing.T) {
	settings := func(nameValue ...string) (list []NamedDigest) {
		for i := 0; i < len(nameValue); i += 2 {
			list = append(list, NamedDigest{reason.SettingsChanged, nameValue[i], nameValue[i+1]})
		}
		return list
	}
	job := NamedDigest{reason.JobChanged, "CI_JOB_ID", "1"}
	for _, tt := range []struct {
		name   string
		a, b   []NamedDigest
		reason reason.Code
		names  []string
	}{
		{"nothing", nil, nil, "", nil},
		{"the same in another order", settings("x", "1", "y", "2"), settings("y", "2", "x", "1"),
			"", nil},
		{"another value", settings("x", "1", "y", "2"), settings("x", "1", "y", "3"),
			reason.SettingsChanged, []string{"y"}},
		{"one more and one less", settings("x", "1"), settings("y", "1"),
			reason.SettingsChanged, []string{"x", "y"}},
		{"a name twice", settings("x", "1", "x", "2"), settings("x", "1"),
			reason.SettingsChanged, []string{"x"}},
		{"the same two, swapped", settings("x", "1", "x", "2"), settings("x", "2", "x", "1"),
			reason.SettingsChanged, nil},
		{"the weightiest alone", append(settings("x", "1"), job), settings("x", "2"),
			reason.SettingsChanged, []string{"x"}},
		{"a part of a whole", settings("f", "1", "f a", "1", "f b", "1"),
			settings("f", "2", "f a", "1", "f b", "2"), reason.SettingsChanged, []string{"f b"}},
		{"a whole alone", settings("f", "1", "f a", "1", "ff b", "1"), settings("f", "2", "f a",
			"1", "ff b", "2"), reason.SettingsChanged, []string{"f", "ff b"}},
		{"another guard", []NamedDigest{job}, nil, reason.JobChanged, []string{"CI_JOB_ID"}},
		{"control characters in a name", settings("x\n\ty", "1"), settings("x\n\ty", "2"),
			reason.SettingsChanged, []string{"x??y"}},
		{"what is at the edge of them", settings("\x1f ~\x7f\u0080", "1"),
			settings("\x1f ~\x7f\u0080", "2"), reason.SettingsChanged, []string{"? ~?\u0080"}},
	} {
		for range 2 {
			why, names := NewDigests(tt.a).differ(NewDigests(tt.b), reason.SettingsChanged)
			if why != tt.reason || !slices.Equal(names, tt.names) {
				t.Errorf("%s: %s %q, want %s %q", tt.name, why, names, tt.reason, tt.names)
			}
			tt.a, tt.b = tt.b, tt.a
		}
	}
	given := settings("y\n", "1", "x", "2")
	if NewDigests(given); given[0].Name != "y\n" || given[1].Name != "x" {
		t.Errorf("the caller's list became %q", given)
	}
}
