#!/bin/sh
# Generates services/scaar/v1 from the contract, the same bytes every time.
# Needs grpcio-tools and mypy-protobuf of the pinned versions; PYTHON names their interpreter.
set -eu
cd "$(dirname "$0")"
python=$(command -v "${PYTHON:-python3}")
PATH="$(dirname "$python"):$PATH"
out=../services
mkdir -p "$out/scaar/v1"
find "$out/scaar/v1" -name '*_pb2*' -delete
"$python" -m grpc_tools.protoc -I . --python_out="$out" --mypy_out="$out" scaar/v1/*.proto
"$python" -m grpc_tools.protoc -I . --grpc_python_out="$out" --mypy_grpc_out=only_async:"$out" \
    $(grep -l '^service ' scaar/v1/*.proto)
