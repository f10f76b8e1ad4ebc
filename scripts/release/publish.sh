#!/bin/sh
# publish.sh DIRECTORY PROVENANCE TAG OWNER/NAME signs the checksums of a release, and uploads its files to GitHub. It needs cosign and gh,
# and runs in .github/workflows/release.yml, which signs with its identity.
set -eu
directory=$1 provenance=$2 tag=$3 repository=$4
notes=$("$(dirname -- "$0")/notes.sh" "$tag" "$repository")
cp -- "$provenance" "$directory/provenance.sigstore.json"
cd -- "$directory"
sha256sum --check --quiet SHA256SUMS
cosign sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS
case $tag in *-*) kind=--prerelease ;; *) kind=--latest ;; esac
printf '%s\n' "$notes" | gh release create "$tag" --repo "$repository" --verify-tag "$kind" --title "reprise ${tag#v}" --notes-file - ./*
