#!/usr/bin/env bash
# Makes .venv ready for one purpose, and does nothing when it is:
#
#   packaging/setup.sh run     Grus itself
#   packaging/setup.sh test    Grus and everything that its checks need
#   packaging/setup.sh oldest  the same with the lowest versions that pyproject.toml allows, in .venv-oldest
#   packaging/setup.sh newest  the same with the highest, whatever was tested, in .venv-newest
#   PYTHON=python3.12 packaging/setup.sh run
#
# Knows how to find a Python, what the machine lacks, and whether there is anything to do. What to install is said
# elsewhere: Python packages in pyproject.toml, their versions in constraints.txt, system libraries in system.txt. Runs
# on macOS's bash 3.2.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=.venv
purpose=${1:-}
say() { printf 'grus: %s\n' "$*" >&2; }

case $purpose in
  run) extras="" needed="run" ;;
  test) extras="[test]" needed="run test" ;;
  oldest | newest) extras="[test]" needed="run test" venv=.venv-$purpose ;;
  *) say "usage: packaging/setup.sh run|test|oldest|newest" && exit 2 ;;
esac

# -- Python

suits() {
  "$1" -c '
import ensurepip, platform, sys, venv
rosetta = sys.platform == "darwin" and platform.machine() != "arm64"
sys.exit(not (3, 11) <= sys.version_info < (3, 15) or rosetta)' >/dev/null 2>&1 </dev/null
}

find_python() {
  local candidate
  set -- python3 python3.13 python3.12 python3.11 python3.14 python
  [ "$purpose" != oldest ] || set -- python3.11 "$@" # the oldest packages have no wheels for the newest Python
  [ -z "${PYTHON:-}" ] || set -- "$PYTHON"
  for candidate in "$@"; do
    if suits "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# -- the system

case $(uname -s) in
  Darwin) managers="brew" ;;
  *) managers="apt-get dnf pacman" ;;
esac
manager=""
for candidate in $managers; do
  if command -v "$candidate" >/dev/null 2>&1; then
    manager=$candidate
    break
  fi
done

present() {
  local what=${1#*:} folder name
  case $1 in
    python) find_python >/dev/null ;;
    command:*)
      for name in ${what//,/ }; do
        command -v "$name" >/dev/null 2>&1 && return
      done
      return 1
      ;;
    library:*)
      for folder in /lib /lib64 /lib/*-linux-gnu /usr/lib /usr/lib64 /usr/lib/*-linux-gnu /usr/local/lib /opt/homebrew/lib; do
        [ -e "$folder/$what" ] && return
      done
      return 1
      ;;
    font:*)
      for folder in /usr/share/fonts /usr/local/share/fonts; do
        [ -z "$(find "$folder" -name "$what*" -print -quit 2>/dev/null)" ] || return 0
      done
      return 1
      ;;
    *) say "system.txt has a probe that setup.sh does not know: $1" && exit 2 ;;
  esac
}

# Only without asking: as root, by a sudo that needs no password, or by a manager that needs neither.
may_install() {
  [ -n "$manager" ] || return 1
  [ "$manager" = brew ] || [ "$(id -u)" = 0 ] || sudo -n true >/dev/null 2>&1
}

install_packages() {
  local root=""
  if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then root="sudo -n"; fi
  case $manager in
    apt-get)
      $root apt-get update -qq >&2 &&
        $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
      ;;
    dnf) $root dnf install -y -q "$@" >&2 ;;
    pacman) $root pacman -S --noconfirm --needed "$@" >&2 ;;
    brew) brew install -q "$@" >&2 ;;
  esac
}

install_hint() {
  case $manager in
    apt-get | dnf) printf 'sudo %s install %s' "$manager" "$*" ;;
    pacman) printf 'sudo pacman -S %s' "$*" ;;
    brew) printf 'brew install %s' "$*" ;;
    *) printf 'use your package manager to install %s' "$*" ;;
  esac
}

# What is still missing afterwards is told in one line and stops nothing: the work may well do without it. On a Linux
# whose package manager we do not know, Debian's names are the best hint there is.
need_system() {
  local when probe apt dnf pacman brew _why name missing=""
  while read -r when probe apt dnf pacman brew _why; do
    case " $1 " in *" $when "*) ;; *) continue ;; esac
    case ${manager:-$managers} in
      brew) name=$brew ;;
      dnf) name=$dnf ;;
      pacman) name=$pacman ;;
      *) name=$apt ;;
    esac
    if [ "$name" != - ] && ! present "$probe"; then
      for name in ${name//,/ }; do
        case " $missing " in *" $name "*) ;; *) missing="$missing $name" ;; esac
      done
    fi
  done <packaging/system.txt
  missing=${missing# }
  [ -n "$missing" ] || return 0
  if may_install; then
    say "installing what the system lacks: $missing"
    # shellcheck disable=SC2086 # a list of names
    install_packages $missing && return
  fi
  # shellcheck disable=SC2086
  say "some system packages are missing and cannot be installed from here; what needs them will not work. Please run: $(install_hint $missing)"
}

# -- the environment

# All that decides what is installed, and where: a folder that was moved has scripts that point to the old place.
recipe() {
  pwd
  cat pyproject.toml packaging/setup.sh packaging/constraints.txt
}

made_for() {
  [ -f "$venv/.ready-$1" ] && recipe | cmp -s - "$venv/.ready-$1"
}

# Asked for by name, a Python other than the environment's own replaces it.
same_python() {
  local who='import sys; print(sys.version, sys.base_prefix)'
  [ -x "$venv/bin/python" ] || return 1
  if [ -z "${PYTHON:-}" ]; then
    "$venv/bin/python" -c '' >/dev/null 2>&1
  else
    [ "$("$PYTHON" -c "$who" 2>&1)" = "$("$venv/bin/python" -c "$who" 2>&1)" ]
  fi
}

make_venv() {
  local python
  if ! python=$(find_python); then
    say "no suitable Python found. Grus needs 3.11 to 3.14 with its venv module (on macOS one for Apple Silicon). Install one, or name it: PYTHON=/path/to/python3 make $purpose"
    exit 1
  fi
  say "making $venv with $("$python" --version)"
  "$python" -m venv --clear "$venv"
}

pip_install() {
  local quiet="-q"
  if [ -t 1 ]; then quiet=""; fi
  "$venv/bin/python" -m pip install --disable-pip-version-check $quiet "$@" >&2
}

# Which versions: those that were tested, for a fresh machine; one end of what pyproject.toml allows, to test that.
install_grus() {
  local torch
  rm -f "$venv/.ready-$purpose"
  case $purpose in
    oldest)
      "$venv/bin/python" packaging/versions.py oldest >"$venv/oldest.txt"
      set -- -c "$venv/oldest.txt"
      ;;
    newest) set -- --upgrade --upgrade-strategy eager ;;
    *) set -- -c packaging/constraints.txt ;;
  esac
  torch=$(sed -n 's/^ *"\(torch==[^"]*\)",$/\1/p' pyproject.toml | head -n 1)
  say "installing the Python packages; the first time this takes some minutes"
  pip_install "$@" "$torch" # first and alone, so that nothing else chooses its version or build
  pip_install "$@" -e ".$extras"
  recipe >"$venv/.ready-$purpose"
}

if same_python; then
  need_system "$needed"
else
  need_system "venv $needed"
  make_venv
fi
# what is newest changes without our doing
if [ "$purpose" = newest ] || ! { made_for "$purpose" || made_for test; }; then install_grus; fi
