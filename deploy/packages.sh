#!/bin/sh
# Installs locked packages into an environment, by hash.
#
#     packages.sh TOOLS ENVIRONMENT EXTRA|FILE...
#
# Packages are those of extras of scaar in deploy/requirements.txt, and those of other files of
# requirements. TOOLS is the environment that has the packages of the group build. Its uv installs, and
# where uv fails, for example for want of a setting that only pip reads, its pip, which takes minutes.
set -eu
tools=$1/bin python=$2/bin/python
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$tools/python" deploy/locked.py build > "$work/build.txt"
extras=
for each in "$@"; do
  case $each in
    *.txt) cat "$each" >> "$work/requirements.txt" ;;
    *) extras="$extras $each" ;;
  esac
done
# shellcheck disable=SC2086 # extras are words
[ -z "$extras" ] || "$tools/python" deploy/locked.py $extras >> "$work/requirements.txt"
index=${PIP_INDEX_URL:-$("$tools/python" -m pip config get global.index-url 2>/dev/null || true)}
export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-${index:-https://pypi.org/simple}}"
"$tools/uv" pip install --quiet --no-deps --require-hashes --python "$python" \
  --build-constraints "$work/build.txt" --requirement "$work/requirements.txt" && exit
echo 'uv could not install the packages; pip installs them, which takes longer' >&2
pip="$tools/python -m pip --quiet --disable-pip-version-check"
$pip wheel --no-deps --no-build-isolation --use-pep517 --require-hashes \
  --requirement "$work/requirements.txt" --wheel-dir "$work/wheels"
$pip --python "$python" install --no-index --no-deps "$work"/wheels/*
