package ledger

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// A table is a table of the ledger with a struct for its rows. The db tag of a field has the name
// of the column, and the column's definition for SQLite, unless the field's type gives it. A basic
// type's zero value is NULL where a column can be. Structs and lists are stored as JSON. A name with
// a dot is a column of another table, which is only read.
type table[T any] struct {
	name string
	plan func() tablePlan
}

// A tablePlan has the SQL that follows from the tags.
type tablePlan struct {
	fields                         []tableField
	create, insert, update, choose string
	written                        []tableField // the fields that insert and update set
}

type tableField struct {
	index            []int
	name, definition string // the definition is "" for another table's column
	isJSON           bool
	read, write      string // SQL, where $ stands for the table
}

func newTable[T any](name string) table[T] {
	return table[T]{name,
		sync.OnceValue(func() tablePlan { return planTable(name, reflect.TypeFor[T]()) })}
}

func planTable(name string, row reflect.Type) (p tablePlan) {
	var defined, names, marks, set, read []string
	for _, f := range reflect.VisibleFields(row) {
		tag, ok := f.Tag.Lookup("db")
		if !ok {
			continue
		}
		one := newTableField(f, tag)
		p.fields = append(p.fields, one)
		read = append(read, one.read)
		if one.definition == "" {
			continue
		}
		defined = append(defined, one.name+" "+one.definition)
		if one.name == "id" {
			continue
		}
		names, marks = append(names, one.name), append(marks, one.write)
		set, p.written = append(set, one.name+" = "+one.write), append(p.written, one)
	}
	p.create = "CREATE TABLE " + name + " (" + strings.Join(defined, ", ") + ");"
	p.insert = "INSERT INTO " + name + " (" + strings.Join(names, ", ") + ") VALUES (" +
		strings.Join(marks, ", ") + ")"
	p.update, p.choose = "UPDATE "+name+" SET "+strings.Join(set, ", ")+" WHERE id = ?",
		strings.Join(read, ", ")
	return p
}

func newTableField(f reflect.StructField, tag string) (one tableField) {
	name, definition, _ := strings.Cut(tag, " ")
	one = tableField{index: f.Index, name: name, definition: definition, read: "$." + name,
		write: "?"}
	kind, isBlob := f.Type.Kind(), f.Type == reflect.TypeFor[[]byte]()
	zero := map[reflect.Kind]string{reflect.String: "''",
		reflect.Int: "0", reflect.Int64: "0", reflect.Bool: "0"}[kind]
	one.isJSON = definition == "" && zero == "" && !isBlob
	switch {
	case strings.Contains(name, "."):
		one.read = "coalesce(" + name + ", " + zero + ")"
	case definition == "" && isBlob:
		one.definition = "BLOB NOT NULL DEFAULT x''"
	case definition == "" && zero == "0":
		one.definition = "INTEGER NOT NULL DEFAULT 0"
	case definition == "":
		one.definition = "TEXT NOT NULL DEFAULT ''"
	case zero != "" && name != "id" && !strings.Contains(definition, "NOT NULL"):
		one.read, one.write = "coalesce($."+name+", "+zero+")", "nullif(?, "+zero+")"
	}
	return one
}

// columns returns SQL that selects a row, given a name of the table.
func (t table[T]) columns(as string) string { return strings.ReplaceAll(t.plan().choose, "$", as) }

func (t table[T]) fields(row *T) []any { return columnsOf(row, t.plan().fields) }

// columnsOf returns the columns of some fields of a row, to read or write.
func columnsOf[T any](row *T, fields []tableField) []any {
	value := reflect.ValueOf(row).Elem()
	all := make([]any, len(fields), len(fields)+1)
	for i, f := range fields {
		all[i] = value.FieldByIndex(f.index).Addr().Interface()
		if blob, ok := all[i].(*[]byte); ok && *blob == nil {
			*blob = []byte{} // nil would be NULL
		}
		if f.isJSON {
			all[i] = jsonColumn{all[i]}
		}
	}
	return all
}

// A jsonColumn is a column that has a value as JSON, "" for a zero value.
type jsonColumn struct{ value any } // a pointer

// Scan reads the column. A column that cannot be read has the zero value.
func (c jsonColumn) Scan(column any) error {
	text, _ := column.(string)
	value := reflect.ValueOf(c.value).Elem()
	value.SetZero()
	if json.Unmarshal([]byte(text), c.value) != nil {
		value.SetZero()
	}
	return nil
}

// Value returns the column.
func (c jsonColumn) Value() (driver.Value, error) {
	if reflect.ValueOf(c.value).Elem().IsZero() {
		return "", nil
	}
	return EncodeJSON(c.value), nil
}

// list reads the rows of the table that a condition selects.
func (t table[T]) list(q Queryer, where string, args ...any) ([]T, error) {
	return List(q, "SELECT "+t.columns(t.name)+" FROM "+t.name+" WHERE "+where, t.fields, args...)
}

// get reads a row, nil if there is none.
func (t table[T]) get(q Queryer, where string, args ...any) (*T, error) {
	rows, err := t.list(q, where, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func (t table[T]) put(tx *sql.Tx, row *T) (id int64, err error) {
	result, err := tx.Exec(t.plan().insert, columnsOf(row, t.plan().written)...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// set sets the columns of a row. It returns how many rows have the number and fulfil the condition:
// one, or none.
func (t table[T]) set(tx *sql.Tx, id int64, row *T, condition string) (int64, error) {
	return changed(tx.Exec(t.plan().update+condition,
		append(columnsOf(row, t.plan().written), id)...))
}
