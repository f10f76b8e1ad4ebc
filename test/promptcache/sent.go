package promptcache

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A sent is a JSON object as it was sent: parsing it into a map would lose the order of the
// members, and with it the difference between prompts that a provider's cache tells apart.
type sent []member

type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of an object, none if raw is not one.
func members(raw []byte) (all sent) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return all
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return all
		}
		all = append(all, member{name.(string), value})
	}
	return all
}

// get returns the value of that name, nil if there is none.
func (s sent) get(name string) json.RawMessage {
	for _, m := range s {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// without returns the text of the members without the members of that name.
func (s sent) without(name string) (text []byte) {
	for _, m := range s {
		if m.name != name {
			text = fmt.Appendf(text, "%s:%s,", m.name, m.value)
		}
	}
	return text
}

// elements returns the elements of an array; any other value is its own only element.
func elements(raw json.RawMessage) (all []json.RawMessage) {
	if len(raw) == 0 {
		return nil
	}
	if json.Unmarshal(raw, &all) != nil {
		all = []json.RawMessage{raw}
	}
	return all
}
