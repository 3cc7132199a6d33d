"""``scaar models export-encoder``: a sentence encoder's folder with its weights as ONNX."""

from pathlib import Path
from typing import Annotated

import typer


def export_encoder(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="The folder of a sentence encoder; without an ONNX export in it, "
            "scaar[scorer,transformers] makes one.",
            show_default=False,
        ),
    ],
    to: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder to write.", show_default=False)
    ],
) -> None:
    """Write a sentence encoder as scorer and retriever open it, its weights as ONNX.

    The folder is there when it is whole, and what is there already is left as it is.
    """
    # Reading a model takes libraries that no other command of these needs.
    from scaar.encoders.export import export_encoder as export

    encoder = export(model, to)
    print(
        f"{to}: {encoder.width} numbers a text of at most {encoder.max_tokens} tokens, "
        f"revision {encoder.revision}"
    )
