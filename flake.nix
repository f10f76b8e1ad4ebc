# nix profile install .   or   nix build
#
# Parsed by nix, and its vendorHash compared with the modules (scripts/packaging_test.go). It was not built: that takes nixpkgs.
{
  description = "Transparent shims that resume the sessions of agent CLIs";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    {
      packages = nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (system: {
        default = nixpkgs.legacyPackages.${system}.buildGoModule rec {
          pname = "reprise";
          version = "0.1.0";
          src = self;
          vendorHash = "sha256-DHAVuqTlh+MYrAamQGdWX4IchBN5KFLuGVjuZUZtfX8=";
          subPackages = [
            "cmd/shim"
            "cmd/shimctl"
            "cmd/reprise-store"
          ];
          env.CGO_ENABLED = 1;
          tags = [
            "sqlite_omit_load_extension"
            "osusergo"
            "netgo"
          ];
          ldflags = [
            "-s"
            "-w"
            "-X reprise/config.Version=v${version}"
            "-X reprise/config.Commit=${self.rev or ""}"
          ];
          doCheck = false; # the tests start programs and look at /proc
          # The shims are hard links in a directory of their own, which is put first on PATH.
          postInstall = ''
            mkdir -p $out/lib/reprise
            mv $out/bin $out/lib/reprise/bin
            for name in $(sed -n "s/^shims='\(.*\)'/\1/p" install.sh); do
              ln $out/lib/reprise/bin/shim $out/lib/reprise/bin/$name
            done
            rm $out/lib/reprise/bin/shim
            mkdir $out/bin
            ln -s ../lib/reprise/bin/shimctl $out/bin/shimctl
          '';
          meta = {
            license = nixpkgs.lib.licenses.mit;
            mainProgram = "shimctl";
            platforms = nixpkgs.lib.platforms.linux;
          };
        };
      });
    };
}
