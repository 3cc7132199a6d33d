#!/bin/sh
# Puts scaar with some extras into /opt/venv, at the exact versions that it is tested with.
#
#     install.sh EXTRA,...
set -eu
python3 -m venv --without-pip /opt/venv
pip --python /opt/venv/bin/python install --quiet --no-cache-dir --disable-pip-version-check \
  --constraint /build/constraints.txt "$(echo /build/scaar-*.whl)[$1]"
