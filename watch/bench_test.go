package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"reprise/rewrite"
)

// BenchmarkStartStop measures the cost of following for a call, in directories as the tools
// leave them after long use.
func BenchmarkStartStop(b *testing.B) {
	for _, shape := range []struct {
		name string
		path func(i int) string
		n    int
	}{
		{"dated", func(i int) string {
			return fmt.Sprintf("20%02d/%02d/%02d/rollout-%05d.jsonl", i/25%30, i/25%12, i/25%28, i)
		}, 10_000},
		{"directories", func(i int) string { return fmt.Sprintf("%05d/meta.json", i) }, 10_000},
		{"few", func(i int) string { return fmt.Sprintf("%d/meta.json", i) }, 10},
	} {
		dir := b.TempDir()
		for i := range shape.n {
			put(b, filepath.Join(dir, shape.path(i)), "{}\n")
		}
		for _, lines := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/lines=%v", shape.name, lines), func(b *testing.B) {
				var start, stop time.Duration
				for b.Loop() {
					began := time.Now()
					w, err := Start([]rewrite.Follow{{Dir: dir, Name: "*.json*", Lines: lines}},
						func(string, []byte) {})
					if err != nil {
						b.Fatal(err)
					}
					start += time.Since(began)
					began = time.Now()
					w.Stop()
					stop += time.Since(began)
				}
				b.ReportMetric(float64(start.Microseconds())/1e3/float64(b.N), "ms/start")
				b.ReportMetric(float64(stop.Microseconds())/1e3/float64(b.N), "ms/stop")
			})
		}
	}
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
