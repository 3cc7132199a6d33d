#!/usr/bin/env bash
# Generates services/scaar/v1 from the contract, the same bytes every time.
#
#   proto/generate.sh BIN           writes it
#   proto/generate.sh --check BIN   fails when what is there differs by a byte
#
# BIN is the folder of a Python environment's programs, with the `dev` extra installed.
set -euo pipefail

check=false
if [[ ${1-} == --check ]]; then
  check=true
  shift
fi
bin=$(cd "${1:?name the folder of the programs, such as .venv/bin}" && pwd)
cd "$(dirname "$0")/.."

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

messages=(proto/scaar/v1/*.proto)
[[ -e ${messages[0]} ]] || { echo 'proto/scaar/v1 holds no .proto file' >&2; exit 1; }
mapfile -t services < <(grep -lE '^service ' "${messages[@]}")

protoc=("$bin/python" -m grpc_tools.protoc --proto_path=proto
  --plugin=protoc-gen-mypy="$bin/protoc-gen-mypy"
  --plugin=protoc-gen-mypy_grpc="$bin/protoc-gen-mypy_grpc")
"${protoc[@]}" --python_out="$made" --mypy_out=quiet:"$made" "${messages[@]}"
"${protoc[@]}" --grpc_python_out="$made" --mypy_grpc_out=only_async,quiet:"$made" "${services[@]}"
echo '"""The contract as code, generated from proto/scaar/v1 by `make proto`; never edited."""' \
  >"$made/scaar/v1/__init__.py"

target=services/scaar/v1
if $check; then
  diff -r --exclude=__pycache__ "$made/scaar/v1" "$target" ||
    { echo "$target is not what proto/scaar/v1 generates: run make proto" >&2; exit 1; }
  echo "$target is what proto/scaar/v1 generates"
else
  mkdir -p "$target"
  find "$target" -maxdepth 1 -type f -delete
  cp "$made/scaar/v1/"* "$target/"
  echo "wrote $target"
fi
