#!/usr/bin/env bash
# Brings the program that an AppImage begins with: appimage-runtime.sh FILE. A release of it that does not change, checked by its digest.
# From a mirror: APPIMAGE_RUNTIME_ADDRESS. Another one: APPIMAGE_RUNTIME_DIGEST, its SHA-256, too.
set -euo pipefail
[ $# -eq 1 ] || { sed -n 2,3p "$0" >&2; exit 2; }
address=${APPIMAGE_RUNTIME_ADDRESS:-https://github.com/AppImage/type2-runtime/releases/download/20251108/runtime-x86_64}
digest=${APPIMAGE_RUNTIME_DIGEST:-2fca8b443c92510f1483a883f60061ad09b46b978b2631c807cd873a47ec260d}
mkdir -p "$(dirname "$1")"
curl --fail --silent --show-error --location --retry 3 --output "$1.part" "$address"
if ! echo "$digest  $1.part" | sha256sum --check --quiet; then
  rm -f "$1.part"
  exit 1
fi
mv "$1.part" "$1"
