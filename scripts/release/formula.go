package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

const formulaText = `class Reprise < Formula
  desc "%s"
  homepage "%s"
  version "%s"
  license "MIT"

  depends_on :linux
%s
  def install
    libexec.install "bin", "install.sh"
    bin.install_symlink libexec/"bin/shimctl"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/shimctl"
    zsh_completion.install "completions/_shimctl"
    fish_completion.install "completions/shimctl.fish"
    doc.install "sbom.cdx.json", "THIRD-PARTY-LICENSES"
  end

  def caveats
    <<~EOS
      Nothing changes until the shims are first on PATH. shimctl setup does that, or this line in the profile of your shell:
        export PATH="#{opt_libexec}/bin:$PATH"
    EOS
  end

  test do
    assert_match "reprise %s", shell_output("#{bin}/shimctl version")
  end
end
`

// formula writes a Homebrew formula, which downloads the archives. There are none for macOS: see
// docs/internals/packages.md.
func (r *release) formula(made string) error {
	var sources strings.Builder
	for _, arch := range r.arches {
		archive := r.name(arch) + ".tar.gz"
		sum, err := sha256Of(filepath.Join(made, archive))
		if err != nil {
			return err
		}
		on := map[string]string{"amd64": "on_intel", "arm64": "on_arm"}[arch]
		fmt.Fprintf(&sources, "\n  %s do\n    url \"%s/%s\"\n    sha256 \"%s\"\n  end\n", on, r.url, archive, sum)
	}
	version := parseVersion(r.version, r.time).npm()
	text := fmt.Sprintf(formulaText, strings.ToUpper(summary[:1])+summary[1:], r.url, version, sources.String(), r.version)
	return writeFile(filepath.Join(made, "reprise.rb"), []byte(text))
}
