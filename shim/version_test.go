package shim

import (
	"os"
	"path/filepath"
	"testing"
)

func TestVersionWithoutRunning(t *testing.T) {
	const entry = "[console_scripts]\nother=x:main\ntool = pkg.cli:main\n"
	tests := []struct {
		name  string
		files map[string]string
		path  string
		want  string
	}{
		{"named by it", map[string]string{"versions/2.1.329": ""}, "versions/2.1.329", "2.1.329"},
		{"npm", map[string]string{"pkg/package.json": `{"version":"0.61.0","bin":{"tool":"bundle/tool"}}`, "pkg/bundle/tool": ""}, "pkg/bundle/tool", "0.61.0"},
		{"somebody's own package", map[string]string{"pkg/package.json": `{"version":"1.0.0"}`, "pkg/bin/tool": ""}, "pkg/bin/tool", ""},
		{"another package's", map[string]string{"pkg/package.json": `{"version":"1.0.0","bin":{"x":"y"}}`, "pkg/bin/tool": ""}, "pkg/bin/tool", ""},
		{"python", map[string]string{
			"bin/tool": "", "lib/python3.12/site-packages/a_tool-3.0.3.dist-info/entry_points.txt": entry,
			"lib/python3.12/site-packages/b-9.9.dist-info/entry_points.txt": "[console_scripts]\ntoolbox=b:main\n",
		}, "bin/tool", "3.0.3"},
		{"two pythons, one version", map[string]string{
			"bin/tool": "", "lib/python3.12/site-packages/a_tool-3.0.3.dist-info/entry_points.txt": entry,
			"lib/python3.13/dist-packages/a_tool-3.0.3.dist-info/entry_points.txt": entry,
		}, "bin/tool", "3.0.3"},
		{"two versions", map[string]string{
			"bin/tool": "", "lib/python3.12/site-packages/a_tool-3.0.3.dist-info/entry_points.txt": entry,
			"lib/python3.13/site-packages/a_tool-3.0.4.dist-info/entry_points.txt": entry,
		}, "bin/tool", ""},
		{"nothing", map[string]string{"bin/tool": ""}, "bin/tool", ""},
	}
	for _, tt := range tests {
		root := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(root, "link")
		if err := os.Symlink(filepath.Join(root, tt.path), link); err != nil {
			t.Fatal(err)
		}
		real, err := resolve(filepath.Base(link), link, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := real.version(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
