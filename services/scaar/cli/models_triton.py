"""``scaar models export-scorer`` and ``build-engine``: a cross-encoder for a Triton server."""

from pathlib import Path
from typing import Annotated

import typer

from scaar.scorer.triton_repository.engine import Precision
from scaar.scorer.triton_repository.engine import build_engine as build
from scaar.scorer.triton_repository.model_config import Backend
from scaar.scorer.triton_repository.trtexec import TRTEXEC, TrtexecBuilder


def export_scorer(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="The folder of a cross-encoder with one logit; without an ONNX export in it, "
            "scaar[scorer,transformers] makes one.",
            show_default=False,
        ),
    ],
    to: Annotated[
        Path,
        typer.Option(metavar="DIR", help="The model repository to write.", show_default=False),
    ],
    backend: Annotated[
        Backend, typer.Option(help="What runs the model in Triton.", show_default=False)
    ],
    max_batch_size: Annotated[
        int, typer.Option(min=1, max=4096, help="The most pairs that Triton computes together.")
    ] = 64,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a repository that is there.")
    ] = False,
) -> None:
    """Write a cross-encoder as a model repository of Triton's.

    It is there when it is whole, and not before. Golden pairs lie with it, by which whatever runs
    the model elsewhere is held to it.
    """
    # Reading a model takes libraries that the building of an engine does without.
    from scaar.scorer.triton_repository.export import export_scorer as export

    folder = export(model, to, backend=backend, max_batch_size=max_batch_size, force=force)
    print(f"{folder}: written for the {backend} back end")
    if backend is Backend.TENSORRT:
        print(f"Build its engine on the GPU that it will run on: scaar models build-engine {to}")


def build_engine(
    repository: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A repository written with --backend tensorrt.", show_default=False
        ),
    ],
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where engines are kept; unless given, engines beside the repository.",
            show_default=False,
        ),
    ] = None,
    precision: Annotated[
        Precision, typer.Option(help="onnx: as the file says; the others by TensorRT 10 alone.")
    ] = Precision.ONNX,
    trtexec: Annotated[
        str, typer.Option(metavar="PROGRAM", help="TensorRT's own builder.")
    ] = TRTEXEC,
) -> None:
    """Build the TensorRT engine of an exported cross-encoder, for this machine's GPU.

    For an init container of the Triton image. Of several that build the same at a time one does.
    An engine whose numbers are not those of the exported model is dropped.
    """
    kept = cache or repository.absolute().parent / "engines"
    engine = build(repository, TrtexecBuilder(trtexec), cache=kept, precision=precision)
    made = "built and checked" if engine.built else "taken from the cache"
    print(f"{engine.path}: {made}, key {engine.key[:12]}")
