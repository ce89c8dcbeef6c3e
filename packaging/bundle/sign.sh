#!/usr/bin/env bash
# Signs FOLDER/latest.json with minisign; the key comes in MINISIGN_KEY. Without one nothing is signed, and Grus updates from nothing
# that is not signed.
set -euo pipefail
[ $# -eq 1 ] || { sed -n 2,3p "$0" >&2; exit 2; }
if [ -z "${MINISIGN_KEY:-}" ]; then
  echo "no MINISIGN_KEY: latest.json is not signed" >&2
  exit 0
fi
key=$(mktemp)
trap 'rm -f "$key"' EXIT
printf '%s\n' "$MINISIGN_KEY" >"$key"
minisign -S -W -s "$key" -m "$1/latest.json" -t "grus latest.json"
