"""``scaar models export-scorer``, ``build-engine`` and ``export-encoder``."""

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
            help="Folder of a cross-encoder with one logit; without an ONNX file in it, the export "
            "needs scaar[scorer,transformers].",
        ),
    ],
    to: Annotated[Path, typer.Option(metavar="DIR", help="Model repository to write.")],
    backend: Annotated[Backend, typer.Option(help="Triton back end that runs the model.")],
    max_batch_size: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=4096, help="Maximum number of pairs in a batch of Triton."
        ),
    ] = 64,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing repository.")] = False,
) -> None:
    """Write a cross-encoder as a Triton model repository.

    The repository includes golden pairs, with which an engine built elsewhere is validated.
    """
    # Building an engine does not need the libraries that read models.
    from scaar.scorer.triton_repository.export import export_scorer as export

    folder = export(model, to, backend=backend, max_batch_size=max_batch_size, force=force)
    print(f"{folder}: written for the {backend} back end")
    if backend is Backend.TENSORRT:
        print(f"Build its engine on the GPU that it will run on: scaar models build-engine {to}")


def build_engine(
    repository: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Model repository, exported with --backend tensorrt."),
    ],
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Cache of engines. Default: the folder engines next to the repository.",
        ),
    ] = None,
    precision: Annotated[
        Precision,
        typer.Option(
            help="Precision of the engine: onnx keeps that of the file; the others need "
            "TensorRT 10."
        ),
    ] = Precision.ONNX,
    trtexec: Annotated[
        str, typer.Option(metavar="PROGRAM", help="TensorRT's engine builder.")
    ] = TRTEXEC,
) -> None:
    """Build the TensorRT engine of an exported model.

    Run it on a machine with the GPU that will serve the model, such as in an init container of the
    Triton image. Concurrent builds of the same engine wait for one another. An engine is
    discarded if its scores differ from those of the exported model.
    """
    kept = cache or repository.absolute().parent / "engines"
    engine = build(repository, TrtexecBuilder(trtexec), cache=kept, precision=precision)
    made = "built and checked" if engine.built else "taken from the cache"
    print(f"{engine.path}: {made}, key {engine.key[:12]}")


def export_encoder(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="Folder of a sentence encoder; without an ONNX file in it, the export needs "
            "scaar[scorer,transformers].",
        ),
    ],
    to: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write.")],
) -> None:
    """Export a sentence encoder to ONNX.

    Scorer and retriever read the folder. An existing folder is left as it is.
    """
    # Only this command needs the libraries that read models.
    from scaar.encoders.export import export_encoder as export

    encoder = export(model, to)
    print(
        f"{to}: vectors of {encoder.width} numbers, texts of at most {encoder.max_tokens} tokens, "
        f"revision {encoder.revision}"
    )
