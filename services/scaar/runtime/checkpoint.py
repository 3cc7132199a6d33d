"""Checkpoint folders as the engines read them: every file that is used is there and whole.

A folder holds ``config.json``, ``tokenizer.json`` and ``model.onnx`` (or ``onnx/model.onnx``), as
Optimum writes them. Beside them may lie ``generation_config.json``, ``tokenizer_config.json``,
``scaar.json`` (what the model's keeper recommends) and ``training_report.json``, whose ``files``
gives the SHA-256 of files by name.
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
    """A JSON object on disk; empty where there is no such file."""

    path: Path
    content: Mapping[str, Any]

    def whole_number(self, *names: str, default: int | None = None) -> int:
        """The first of the members that is there, from 0.

        Raises:
            DataCorrupt: it is not a whole number, or none is there and there is no default.
        """
        for name in names:
            value = self.content.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise DataCorrupt(f"{self.path}: {name} must be a whole number, not {value!r}")
            return value
        if default is None:
            raise DataCorrupt(f"{self.path}: has no {' or '.join(names)}")
        return default


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model's files. ``revision`` is the start of the SHA-256 of the ONNX file.

    Read without weights, it is empty, and ``model`` need not be there.
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
    """The checkpoint in a folder; reads all of the ONNX file, so call it off the event loop.

    Without ``weights`` the ONNX file is not looked at: another server has it.

    Raises:
        NotFound: the folder, or a file that an engine needs, is not there.
        DataCorrupt: a file is not what the training report says, or not JSON.
    """
    if not folder.is_dir():
        raise NotFound(f"{folder}: there is no such model folder")
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
        raise NotFound(f"{path}: this file of the model is missing") from None
    except OSError as error:
        raise DataCorrupt(f"{path}: cannot be read: {error.strerror}") from error
    if digests.get(path.relative_to(folder).as_posix(), digest) != digest:
        raise DataCorrupt(f"{path}: is not the file that {REPORT} names; its SHA-256 differs")
    return digest


def _digests(report: JsonFile) -> dict[str, str]:
    files = report.content.get("files", {})
    if not isinstance(files, dict):
        raise DataCorrupt(f"{report.path}: files must map names to SHA-256 digests")
    return {str(name): str(digest) for name, digest in files.items()}


def read_json_file(path: Path) -> JsonFile:
    """The object in a JSON file; an empty one where there is no such file.

    Raises:
        DataCorrupt: the file cannot be read, or holds something else.
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
