"""``python -m scaar.scorer.triton_repository``: builds an engine with only the standard library.

Equals ``scaar models build-engine``, for the Triton image, which lacks the libraries of the command
line.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scaar.core.errors import ScaarError
from scaar.scorer.triton_repository.engine import Precision, build_engine
from scaar.scorer.triton_repository.trtexec import TRTEXEC, TrtexecBuilder


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the engine. Return the exit status, 0 for success."""
    parser = argparse.ArgumentParser(
        prog="python -m scaar.scorer.triton_repository",
        description="Build the TensorRT engine of an exported cross-encoder for this GPU.",
    )
    parser.add_argument(
        "repository", type=Path, help="model repository exported with --backend tensorrt"
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder of built engines")
    parser.add_argument(
        "--precision", type=Precision, choices=list(Precision), default=Precision.ONNX
    )
    parser.add_argument(
        "--trtexec", default=TRTEXEC, help="path to the trtexec program of TensorRT"
    )
    given = parser.parse_args(arguments)
    builder = TrtexecBuilder(given.trtexec)
    try:
        engine = build_engine(
            given.repository, builder, cache=given.cache, precision=given.precision
        )
    except ScaarError as error:
        print(f"scaar: {error.message}", file=sys.stderr)
        return 1
    state = "built and checked" if engine.built else "copied from the cache"
    print(f"{engine.path}: {state}, key {engine.key[:12]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
