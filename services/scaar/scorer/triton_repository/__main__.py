"""``python -m scaar.scorer.triton_repository``: builds the engine with the standard library alone.

What ``scaar models build-engine`` does, for the image of Triton, which has none of the libraries of
the command line.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scaar.core.errors import ScaarError
from scaar.scorer.triton_repository.engine import Precision, build_engine
from scaar.scorer.triton_repository.trtexec import TRTEXEC, TrtexecBuilder


def main(arguments: Sequence[str] | None = None) -> int:
    """The status for these arguments: 0 for an engine in its place."""
    parser = argparse.ArgumentParser(
        prog="python -m scaar.scorer.triton_repository",
        description="Build the TensorRT engine of an exported cross-encoder, for this GPU.",
    )
    parser.add_argument("repository", type=Path, help="written with --backend tensorrt")
    parser.add_argument("--cache", type=Path, required=True, help="where engines are kept")
    parser.add_argument(
        "--precision", type=Precision, choices=list(Precision), default=Precision.ONNX
    )
    parser.add_argument("--trtexec", default=TRTEXEC, help="TensorRT's own builder")
    given = parser.parse_args(arguments)
    builder = TrtexecBuilder(given.trtexec)
    try:
        engine = build_engine(
            given.repository, builder, cache=given.cache, precision=given.precision
        )
    except ScaarError as error:
        print(f"scaar: {error.message}", file=sys.stderr)
        return 1
    made = "built and checked" if engine.built else "taken from the cache"
    print(f"{engine.path}: {made}, key {engine.key[:12]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
