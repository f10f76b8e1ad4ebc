package base

import (
	"bytes"
	"encoding/json"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
)

// EncodeTotals encodes the numbers at wanted paths.
func EncodeTotals(numbers []jsonline.Numeral, wanted func(path string) bool) rewrite.Totals {
	totals := map[string]json.Number{}
	for _, n := range numbers {
		if wanted(n.Path) {
			totals[n.Path] = json.Number(n.Text)
		}
	}
	if len(totals) == 0 {
		return ""
	}
	text, err := json.Marshal(totals)
	if err != nil {
		return ""
	}
	return rewrite.Totals(text)
}

// SubtractTotals replaces the cumulative numbers in a line by their increase since previous, and
// keeps every other byte. If one of them has increased by less than the run's own part, as far as
// that is known, they are not cumulative and the line is returned unchanged.
func SubtractTotals(line []byte, numbers []jsonline.Numeral, previous rewrite.Totals,
	own map[string]int64) []byte {
	var before map[string]json.Number
	if previous == "" || json.Unmarshal([]byte(previous), &before) != nil {
		return line
	}
	var out []byte
	at := 0
	for _, n := range numbers {
		was, ok := before[n.Path]
		if !ok {
			continue
		}
		now, errNow := jsonline.Nano(n.Text)
		then, errThen := jsonline.Nano(was.String())
		if errNow != nil || errThen != nil || now-then < own[n.Path]*1e9 {
			return line
		}
		out = append(out, line[at:n.Start]...)
		out = append(out, jsonline.FormatNano(now-then)...)
		at = n.End
	}
	return append(out, line[at:]...)
}

// WithoutUnused returns a line without the models that only the session's earlier runs have used: a
// call of its own lists none that did not answer. Path leads to the models.
func WithoutUnused(line []byte, numbers []jsonline.Numeral, earlier rewrite.Totals,
	path string) []byte {
	var before map[string]json.Number
	if json.Unmarshal([]byte(earlier), &before) != nil {
		return line
	}
	used := map[string]bool{}
	for _, n := range numbers {
		model, _, _ := strings.Cut(strings.TrimPrefix(n.Path, path+"\t"), "\t")
		if _, had := before[n.Path]; had && strings.HasPrefix(n.Path, path+"\t") {
			value, err := jsonline.Nano(n.Text)
			used[model] = used[model] || value != 0 || err != nil
		}
	}
	all, key := string(line), ""
	for _, key = range strings.Split(path, "\t") {
		all = jsonline.Member(all, key)
	}
	own := all
	for model, is := range used {
		name, err := json.Marshal(model)
		if part := string(name) + ":" + jsonline.Member(all, model); !is && err == nil {
			own = strings.Replace(strings.Replace(strings.Replace(own, part+",", "", 1), ","+part,
				"", 1), part, "", 1)
		}
	}
	key = `"` + key + `":`
	return bytes.Replace(line, []byte(key+all), []byte(key+own), 1)
}
