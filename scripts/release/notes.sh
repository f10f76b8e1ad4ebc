#!/bin/sh
# notes.sh TAG OWNER/NAME prints the section of a version in CHANGELOG.md. It fails if there is
# none, or if install.sh would not accept the repository's signature.
set -eu
tag=$1 repository=$2
cd -- "$(dirname -- "$0")/../.."
notes=$(awk -v version="${tag#v}" '/^## / { on = $2 == version; next } on' CHANGELOG.md)
if [ -z "$notes" ]; then
	printf 'error: CHANGELOG.md has no section %s\n' "${tag#v}" >&2
	exit 1
fi
if ! grep -q "^repository='github.com/$repository' #" install.sh; then
	printf 'error: install.sh expects the signatures of another repository\nhint: scripts/home github.com/%s sets it\n' "$repository" >&2
	exit 1
fi
printf '%s\n' "$notes"
