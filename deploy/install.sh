#!/bin/sh
# Installs the packages of some extras of scaar into /opt/venv, as packages.sh does.
#
#     install.sh EXTRA...
set -eu
python3 -m venv --without-pip /opt/venv
# Containers can write no bytecode, and the cache is in another file system.
UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy deploy/packages.sh /opt/build /opt/venv "$@"
python3 deploy/minimal_root.py check /opt/venv
