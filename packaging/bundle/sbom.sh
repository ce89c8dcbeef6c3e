#!/usr/bin/env bash
# Writes FOLDER/grus.cdx.json: what Grus stands on, as CycloneDX, from the versions in packaging/constraints.txt.
set -euo pipefail
[ $# -eq 1 ] || { sed -n 2p "$0" >&2; exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p "$1"
"${PYTHON:-python}" -m cyclonedx_py requirements --pyproject pyproject.toml --mc-type application --output-reproducible \
  --output-format JSON --output-file "$1/grus.cdx.json" packaging/constraints.txt
