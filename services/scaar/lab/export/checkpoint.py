"""Writer of checkpoint folders, which are replaced atomically."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tokenizers import Tokenizer

from scaar.lab.export.hugging_face import (
    WEIGHTS,
    Files,
    cross_encoder_files,
    language_model_files,
)
from scaar.lab.export.onnx_decoder import DecoderGraph
from scaar.lab.export.onnx_encoder import encoder_graph
from scaar.lab.shapes import DecoderShape, EncoderShape

REPORT = "training_report.json"
ADVICE = "scaar.json"
"""File of recommended settings and of the names of tensors, which a repeated export leaves
unchanged."""


def export_language_model(
    params: dict[str, Any],
    shape: DecoderShape,
    folder: Path,
    report: Mapping[str, Any],
    *,
    tokenizer: Tokenizer | None = None,
    prompt_profile: str = "lab",
) -> None:
    """Write the language model: Hugging Face files, ``model.onnx`` and the report with digests.

    A model with a ``tokenizer`` of its own is for experiments with the embedded engine: its weights
    are in ``model.onnx`` alone.
    """
    files = language_model_files(params, shape, tokenizer)
    files = _once(files) if tokenizer else files
    graph = DecoderGraph(params, shape)
    files["model.onnx"] = graph.to_bytes()
    advice = {"prompt_profile": prompt_profile, "hidden_states": graph.hidden_states}
    write_checkpoint(
        folder, files, report, first_time={ADVICE: (json.dumps(advice, indent=2) + "\n").encode()}
    )


def export_cross_encoder(
    params: dict[str, Any],
    shape: EncoderShape,
    folder: Path,
    report: Mapping[str, Any],
    *,
    tokenizer: Tokenizer | None = None,
) -> None:
    """Write the cross-encoder in the same way as a language model."""
    files = cross_encoder_files(params, shape, tokenizer)
    files = _once(files) if tokenizer else files
    files["model.onnx"] = encoder_graph(params, shape)
    write_checkpoint(folder, files, report)


def _once(files: Files) -> Files:
    return {name: content for name, content in files.items() if name != WEIGHTS}


def write_checkpoint(
    folder: Path,
    files: Mapping[str, bytes],
    report: Mapping[str, Any],
    *,
    first_time: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Replace the files in the folder, and keep other files.

    ``files`` are by their path in the folder; those of ``first_time`` replace nothing. The new
    folder is written beside the old one and renamed when complete. The report's ``files``
    contains the SHA-256 of each file, which the engines verify when they open the model.
    """
    digests = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    text = json.dumps({**report, "files": digests}, indent=2, ensure_ascii=False)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        new, old = Path(work, "new"), Path(work, "old")
        if folder.exists():
            shutil.copytree(folder, new)
        new.mkdir(exist_ok=True)
        for name, content in first_time.items():
            if not (new / name).exists():
                (new / name).write_bytes(content)
        for name, content in {**files, REPORT: (text + "\n").encode()}.items():
            (new / name).parent.mkdir(exist_ok=True)
            (new / name).write_bytes(content)
        if folder.exists():
            folder.replace(old)
        new.replace(folder)
