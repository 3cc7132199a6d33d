#!/bin/sh
# Installs the packages of some extras of scaar into /opt/venv, from the lock, by hash. Packages that are
# published as source only are built with those of /opt/build.
#
#     install.sh EXTRA...
set -eu
pip="/opt/build/bin/python -m pip --quiet --disable-pip-version-check"
python3 deploy/locked.py "$@" > requirements.txt
$pip wheel --no-build-isolation --use-pep517 --require-hashes --requirement requirements.txt --wheel-dir wheels
python3 -m venv --without-pip /opt/venv
$pip --python /opt/venv/bin/python install --no-index --no-deps wheels/*
rm -r wheels
python3 deploy/minimal_root.py check /opt/venv
