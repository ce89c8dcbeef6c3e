#!/usr/bin/env bash
# Builds the Docker images that packaging/templates/docker describes, and pushes them: images.sh TAG FOLDER REPOSITORY
# FOLDER has the filled templates. `latest` and `latest-cuda` follow releases, and no a, b or rc.
set -euo pipefail
[ $# -eq 3 ] || { sed -n 2,3p "$0" >&2; exit 2; }
version=${1#v}
image=ghcr.io/$(printf '%s' "$3" | tr '[:upper:]' '[:lower:]')
for kind in cpu cuda; do
  suffix=""
  [ $kind = cpu ] || suffix=-$kind
  names=("$image:$version$suffix")
  [[ $version =~ [a-z] ]] || names+=("$image:latest$suffix")
  # no folder is sent along: the image is made of the released wheel
  docker build --pull "${names[@]/#/--tag=}" - <"$2/Dockerfile.$kind"
  for name in "${names[@]}"; do docker push "$name"; done
done
