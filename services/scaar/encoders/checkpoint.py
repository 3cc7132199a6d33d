"""Reader of checkpoint folders, which validates that every used file exists and is intact.

A folder contains ``config.json``, ``tokenizer.json`` and ``model.onnx`` (or ``onnx/model.onnx``),
as written by Optimum. It may also contain ``generation_config.json``, ``tokenizer_config.json``,
``scaar.json`` (recommended settings) and ``training_report.json``, whose ``files`` maps file names
to SHA-256 digests.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaar.core.errors import DataCorrupt, NotFound

MODEL_FILES = ("model.onnx", "onnx/model.onnx")
REPORT = "training_report.json"
REVISION_DIGITS = 12


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A JSON object on disk, empty if the file is missing."""

    path: Path
    content: Mapping[str, Any]

    def whole_number(self, *names: str, default: int | None = None) -> int:
        """Return the first of the members that is present, a whole number of at least 0.

        Raises:
            DataCorrupt: the value is invalid, or no member is present and there is no default.
        """
        for name in names:
            value = self.content.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                text = f"{name} must be a whole number of at least 0, not {value!r}"
                raise DataCorrupt(f"{self.path}: {text}")
            return value
        if default is None:
            raise DataCorrupt(f"{self.path}: must have {' or '.join(names)}")
        return default


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Files of a model. ``revision`` is a prefix of the SHA-256 of the ONNX file.

    Without weights, ``revision`` is empty, and the file ``model`` may be missing.
    """

    name: str
    revision: str
    model: Path
    tokenizer: Path
    config: JsonFile
    generation_config: JsonFile
    tokenizer_config: JsonFile
    advice: JsonFile


def read_checkpoint(folder: Path, *, weights: bool = True) -> Checkpoint:
    """Read the checkpoint in a folder. Blocks while the complete ONNX file is read.

    Without ``weights``, the ONNX file is ignored, because a server has the weights.

    Raises:
        NotFound: the folder, or a required file, is missing.
        DataCorrupt: a file differs from its digest in the training report, or is not JSON.
    """
    if not folder.is_dir():
        raise NotFound(f"the model folder {folder} does not exist")
    digests = _digests(read_json_file(folder / REPORT))
    present = [folder / name for name in MODEL_FILES if (folder / name).is_file()]
    model = present[0] if present else folder / MODEL_FILES[0]
    digest = _verified(model, folder, digests) if weights else ""
    for name in ("config.json", "tokenizer.json"):
        _verified(folder / name, folder, digests)
    return Checkpoint(
        name=folder.resolve().name,
        revision=digest[:REVISION_DIGITS],
        model=model,
        tokenizer=folder / "tokenizer.json",
        config=read_json_file(folder / "config.json"),
        generation_config=read_json_file(folder / "generation_config.json"),
        tokenizer_config=read_json_file(folder / "tokenizer_config.json"),
        advice=read_json_file(folder / "scaar.json"),
    )


def _verified(path: Path, folder: Path, digests: Mapping[str, str]) -> str:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise NotFound(f"the model file {path} is missing") from None
    except OSError as error:
        raise DataCorrupt(f"{path}: cannot be read: {error.strerror}") from error
    if digests.get(path.relative_to(folder).as_posix(), digest) != digest:
        raise DataCorrupt(f"{path}: the SHA-256 must be the one in {REPORT}; restore the file")
    return digest


def _digests(report: JsonFile) -> dict[str, str]:
    files = report.content.get("files", {})
    if not isinstance(files, dict):
        raise DataCorrupt(f"{report.path}: files must map names to SHA-256 digests")
    return {str(name): str(digest) for name, digest in files.items()}


def read_json_file(path: Path) -> JsonFile:
    """Read the object in a JSON file, empty if the file is missing.

    Raises:
        DataCorrupt: the file cannot be read, or is not a JSON object.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return JsonFile(path, {})
    except OSError as error:
        raise DataCorrupt(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise DataCorrupt(f"{path}: is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise DataCorrupt(f"{path}: must be a JSON object")
    return JsonFile(path, content)
