package player

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build builds the player. With CGO_ENABLED=0 it starts faster, without opencode's database.
func Build(path string, env ...string) error {
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "reprise/test/player/tool")
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the player: %w: %s", err, out)
	}
	return nil
}

// Install installs the player as each tool that it plays, with the version where the shim looks for
// it: claude's version is the name of the file, a Python package's stands beside the library, and
// others' in an npm package.
func Install(tools string) error {
	program := filepath.Join(tools, "../player")
	if err := errors.Join(os.MkdirAll(tools, 0o755), Build(program)); err != nil {
		return err
	}
	for name, d := range dialects {
		real, manifest, text := filepath.Join(tools, name), "", ""
		switch name {
		case "claude":
			real = filepath.Join(tools, d.version)
		case "vibe":
			manifest = filepath.Join(tools,
				"../lib/python3.12/site-packages/mistral_vibe-"+d.version+".dist-info/entry_points.txt")
			text = "[console_scripts]\nvibe = vibe:main\n"
		case "copilot", "gemini", "qwen":
			real = filepath.Join(tools, "../packages", name, name)
			manifest, text = filepath.Join(filepath.Dir(real), "package.json"),
				fmt.Sprintf(`{"version":%q,"bin":{%[2]q:%[2]q}}`, d.version, name)
		case "opencode":
			real = filepath.Join(tools, "../lib/node_modules/opencode-linux-x64/bin/opencode")
			manifest, text = filepath.Join(filepath.Dir(real), "../package.json"),
				fmt.Sprintf(`{"version":%q}`, d.version)
		}
		if err := install(program, filepath.Join(tools, name), real, manifest, text); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
	}
	return nil
}

func install(program, command, real, manifest, text string) error {
	err := errors.Join(os.MkdirAll(filepath.Dir(real), 0o755), os.Link(program, real))
	if real != command {
		err = errors.Join(err, os.Symlink(real, command))
	}
	if manifest != "" {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(manifest), 0o755),
			os.WriteFile(manifest, []byte(text), 0o644))
	}
	return err
}
