#!/bin/sh
# Installs scaar with its extra laptop, and scaar-english, into an environment of its own.
#
#     laptop.sh TOOLS ENVIRONMENT
#
# TOOLS is an environment with the packages of the group build. The locked packages are installed by hash,
# and scaar as wheels, so that the environment does not need the checkout. PYTHON makes the environment.
set -eu
tools=$1 environment=$2
if [ -e "$environment" ] && [ ! -e "$environment/pyvenv.cfg" ]; then
  echo "$environment exists and is no environment; name another folder: make install INSTALL=FOLDER" >&2
  exit 1
fi
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo 'scaar needs Python 3.11 or newer: make install PYTHON=/path/to/python3.11' >&2
  exit 1
}
echo "Installing scaar into $environment"
"${PYTHON:-python3}" -m venv "$environment"
deploy/packages.sh "$tools" "$environment" laptop
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
"$tools/bin/python" -m hatchling build --target wheel --directory "$wheels" > /dev/null 2>&1
"$tools/bin/python" deploy/english_distribution.py "$wheels" > /dev/null
"$tools/bin/uv" pip install --quiet --no-deps --no-index --reinstall --python "$environment/bin/python" "$wheels"/*.whl
echo "Installed, $(du --summarize --block-size=MB "$environment" | cut --fields 1). Next:"
echo "    . $environment/bin/activate"
echo '    scaar ask "How long is parental leave?" --documents FOLDER'
