package base

import (
	"strings"
	"testing"

	"reprise/rewrite"
)

// What is no UTF-8 stands in an event as JSON.stringify writes it (node 22: the text that it makes of these bytes).
func TestAsAskedOfInvalidUTF8(t *testing.T) {
	const r = "\ufffd"
	broken := "a\xe2\x82b\xff\xfe\xf0\x80\x80\xed\xa0\x80\xc0a\xf0\x9f\x98"
	as := "a" + r + "b" + strings.Repeat(r, 9) + "a" + r
	plan := rewrite.Plan{Prompt: broken, Asked: "all of \xff"}
	got := string(AsAsked(&plan, []byte(`{"role":"user","content":"`+as+`"}`)))
	if want := `{"role":"user","content":"all of ` + r + `"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
