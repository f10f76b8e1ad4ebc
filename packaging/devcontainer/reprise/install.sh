#!/bin/sh
# The dev container's build runs this as root, with the feature's options as variables.
set -eu
if [ -z "${FROM:-}" ]; then
	case ${VERSION:-latest} in
	latest) FROM=https://github.com/OWNER/NAME/releases/latest/download ;;
	*) FROM=https://github.com/OWNER/NAME/releases/download/$VERSION ;;
	esac
fi
if command -v curl >/dev/null 2>&1; then
	script=$(curl -fsSL "$FROM/install.sh")
else
	script=$(wget -qO- "$FROM/install.sh")
fi
printf '%s\n' "$script" | sh -s -- --from "$FROM" --bin-dir /usr/local/lib/reprise/bin ${TOOLS:+--tools "$TOOLS"}
