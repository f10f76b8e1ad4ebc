package decide

import (
	"database/sql/driver"
	"encoding/json"
	"reflect"
)

// scan reads a column of the ledger that has a value as JSON. A column that cannot be read has the zero value.
func scan[T any](to *T, column any) error {
	text, _ := column.(string)
	var read T
	if json.Unmarshal([]byte(text), &read) != nil {
		read = *new(T)
	}
	*to = read
	return nil
}

// columnOf returns the column, "" for a zero value.
func columnOf[T any](value T) (driver.Value, error) {
	if reflect.ValueOf(value).IsZero() {
		return "", nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}
