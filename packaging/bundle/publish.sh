#!/usr/bin/env bash
# Makes the release's page: publish.sh TAG NOTES FOLDER. A tag with a, b or rc is a pre-release: updates are announced by the newest
# release that is none, so nobody gets one who did not fetch it.
set -euo pipefail
[ $# -eq 3 ] || { sed -n 2,3p "$0" >&2; exit 2; }
kind=()
[[ $1 =~ ^v[0-9.]+$ ]] || kind=(--prerelease)
find "$3" -maxdepth 1 -type f -print0 | sort -z | xargs -0 gh release create "$1" --verify-tag --notes-file "$2" "${kind[@]}"
