package shells

import (
	"strings"
	"testing"
)

func TestLinesOf(t *testing.T) {
	w := World{Home: "/home/u", Shims: "/home/u/shims"}
	for text, want := range map[string]Line{
		`alias claude="$HOME/.claude/local/claude --key secret"`: {Kind: Alias, Tool: "claude"},
		`if true; then alias vibe=/opt/vibe; fi`:                 {Kind: Alias, Tool: "vibe"},
		`alias -g claude=/x`:                                     {Kind: Alias, Tool: "claude"},
		`alias claude='claude --model opus'`:                     {},
		`alias codex="KEY=secret command codex"`:                 {},
		`alias claudette=vi`:                                     {},
		`# alias claude=/somewhere`:                              {},
		`gemini() { /opt/gemini "$@"; }`:                         {Kind: Function, Tool: "gemini"},
		`function codex {`:                                       {Kind: Function, Tool: "codex"},
		`function claude --description secret`:                   {Kind: Function, Tool: "claude"},
		`hash codex=/opt/codex`:                                  {Kind: File, Tool: "codex"},
		`hash -p /opt/x codex`:                                   {Kind: File, Tool: "codex"},
		`[ -s "$NVM_DIR/nvm.sh" ] && \. "$NVM_DIR/nvm.sh"`:       {Puts: "nvm"},
		`eval "$(mise activate bash)"`:                           {Puts: "mise"},
		`eval "$(~/.local/bin/mise activate zsh)"`:               {Puts: "mise"},
		`. "$HOME/.asdf/asdf.sh"`:                                {Puts: "asdf"},
		`export PATH="$VOLTA_HOME/bin:$PATH"`:                    {Puts: "volta"},
		`eval "$(pyenv init -)"`:                                 {Puts: "pyenv"},
		`eval "$(direnv hook zsh)"`:                              {Puts: "direnv"},
		`eval "$(/opt/homebrew/bin/brew shellenv)"`:              {Puts: "Homebrew"},
		"export PATH=\"$HOME/bin:$PATH\"\r":                      {Dirs: []string{"/home/u/bin"}},
		`fish_add_path ~/a /b`:                                   {Dirs: []string{"/home/u/a", "/b"}},
		`path=(~/bin $path)`:                                     {Dirs: []string{"/home/u/bin"}},
		`export KEY=/secret`:                                     {},
	} {
		lines := w.linesOf("f", "\n"+text+"\n")
		var got Line
		if len(lines) > 0 {
			got = lines[0]
			if got.Place() != "f:2" {
				t.Errorf("%s: %s", text, got.Place())
			}
		}
		if got.Kind != want.Kind || got.Tool != want.Tool || got.Puts != want.Puts || strings.Join(got.Dirs, " ") != strings.Join(want.Dirs, " ") {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	put, _ := WithBlock("f", "x\n", true, posix("claude"))
	if lines := w.linesOf("f", put.New); lines != nil {
		t.Errorf("our own block is read: %+v", lines)
	}
}

func TestCause(t *testing.T) {
	lines := []Line{
		{File: "f", Number: 1, Dirs: []string{"/home/u/bin"}},
		{File: "f", Number: 2, Puts: "nvm"},
		{File: "f", Number: 3, Kind: Alias, Tool: "claude"},
		{File: "f", Number: 4, Kind: Alias, Tool: "codex"},
		{File: "f", Number: 5, Kind: File, Tool: "codex"},
		{File: "f", Number: 6, Dirs: []string{"/home/u/bin"}},
	}
	for _, c := range []struct {
		finding Finding
		number  int
	}{
		{Finding{Tool: "claude", Kind: Alias}, 3},
		{Finding{Tool: "claude", Kind: Function}, 3},
		{Finding{Tool: "gemini", Kind: Alias}, 0},
		{Finding{Tool: "codex", Kind: File, Path: "/x/codex"}, 5},
		{Finding{Tool: "claude", Kind: File, Path: "/home/u/bin/claude"}, 6},
		{Finding{Tool: "claude", Kind: File, Path: "/home/u/.nvm/versions/node/v22/bin/claude"}, 2},
		{Finding{Tool: "claude", Kind: File, Path: "/usr/bin/claude"}, 0},
	} {
		if got, _ := Cause(lines, c.finding); got.Number != c.number {
			t.Errorf("%+v: line %d, want %d", c.finding, got.Number, c.number)
		}
	}
}
