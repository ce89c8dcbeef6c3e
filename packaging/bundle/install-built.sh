#!/usr/bin/env bash
# Makes .venv-bundle out of a wheel that was just made: the environment that a bundle is made from.
#
#   packaging/bundle/install-built.sh FOLDER PLATFORM_TAG
#
# On Linux PyTorch is the build for CPUs; elsewhere the ordinary one is. What the bundle holds is what was tested: constraints.txt.
set -euo pipefail
[ $# -eq 2 ] || { sed -n 2,6p "$0" >&2; exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
wheel=$(find "$1" -name "grus-*-$2.whl" | head -n 1)
[ -n "$wheel" ] || { echo "there is no wheel for $2 in $1" >&2; exit 1; }
"${PYTHON:-python}" -m venv .venv-bundle
bin=.venv-bundle/bin
[ -d "$bin" ] || bin=.venv-bundle/Scripts
case $(uname -s) in
  Linux) export PIP_EXTRA_INDEX_URL="${PIP_EXTRA_INDEX_URL:-https://download.pytorch.org/whl/cpu}" ;;
esac
"$bin/python" -m pip install --quiet "pip>=25.3" # of the CUDA pack an older one would bring every wheel, only to list them
"$bin/python" -m pip install --quiet -c packaging/constraints.txt "$wheel"
# Where that index does not answer, pip takes the registry's build instead, which is for CUDA and has gigabytes of libraries.
cuda=""
[ "$(uname -s)" != Linux ] || cuda=$("$bin/python" -c 'import torch; print(torch.version.cuda or "")')
if [ -n "$cuda" ]; then
  echo "PyTorch's build for CPUs was not to be had at $PIP_EXTRA_INDEX_URL; the build for CUDA $cuda was installed" >&2
  exit 1
fi
"$bin/python" -m pip install --quiet "$(grep '^pyinstaller' packaging/requirements.txt)"
