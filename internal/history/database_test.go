package history

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/rewrite"
)

// opencode's database, as opencode 1.18.33 has left it after three turns.
func TestReadDatabase(t *testing.T) {
	dump, err := os.ReadFile("../../testdata/sessions/opencode.sql")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	env := func(name string) string { return map[string]string{"XDG_DATA_HOME": home}[name] }
	if found, err := Read(env, "opencode", &Cache{}); err != nil || len(found) != 0 {
		t.Errorf("without a database: %v, %v", found, err)
	}
	if err := os.Mkdir(filepath.Join(home, "opencode"), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(home, "opencode", "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(string(dump)); err != nil {
		t.Fatal(err)
	}
	want := []Session{{"opencode", "ses_dfbff6b21ffeNePAAQ76xEBCfg", "/home/me/opencode/proj", "stand-in", "1.18.33",
		at("2026-11-22T16:04:36.703Z"), at("2026-11-22T16:05:02.661Z"), 3, true, 26134, 0, 0, 8}}
	if got, err := Read(env, "opencode", &Cache{}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	tool, _ := rewrite.Lookup("opencode")
	row := make([]any, 14)
	to := make([]any, len(row))
	for i := range row {
		to[i] = &row[i]
	}
	if err := db.QueryRow(tool.Descriptor().SessionQuery, want[0].ID).Scan(to...); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	s := tool.Stream(rewrite.Call{Format: rewrite.Text}, rewrite.Plan{}, "")
	s.File("opencode.db", text)
	if seen := s.Seen(); seen.Usage.Input != 26134 || seen.Usage.Output != 8 || seen.ContextUse.Used != 9273 || seen.Compacted || seen.Model != "stand-in" {
		t.Errorf("%s: %+v", text, seen)
	}
	if strings.Contains(string(text), "4711") {
		t.Errorf("the row contains text of the session: %s", text)
	}
}
