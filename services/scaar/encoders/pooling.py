"""Pooling of token vectors into one vector per text, as a sentence-transformers folder defines it.

``modules.json`` lists the steps after the model: a pooling, whose ``config.json`` has its mode, and
optionally a normalization. Without the file, the mean is used, without normalization.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from scaar.core.errors import DataCorrupt
from scaar.encoders.checkpoint import read_json_file

Array = np.ndarray[Any, Any]

_FIRST, _POOLING, _NORMALIZE = "Transformer", "Pooling", "Normalize"
_FLAG = "pooling_mode_"
_SMALL = 1e-12


class Pooling(StrEnum):
    """Pooling mode, named as its flag in the configuration."""

    CLS = "cls_token"
    MAX = "max_tokens"
    MEAN = "mean_tokens"
    MEAN_SQRT = "mean_sqrt_len_tokens"


@dataclass(frozen=True, slots=True)
class VectorRecipe:
    """Steps that turn the token vectors of a text into one vector."""

    pooling: Pooling
    normalised: bool

    def applied(self, tokens: Array, mask: Array) -> Array:
        """Return one float32 vector per text, [texts, width].

        ``tokens`` is [texts, tokens, width], and ``mask`` is [texts, tokens]. The vector of a text
        without tokens is 0.
        """
        vectors = self._pooled(tokens, mask[:, :, None].astype(tokens.dtype))
        vectors[~mask.any(axis=1)] = 0
        if self.normalised:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _SMALL)
        return vectors.astype(np.float32, copy=False)

    def _pooled(self, tokens: Array, real: Array) -> Array:
        count = np.maximum(real.sum(axis=1), 1)
        match self.pooling:
            case Pooling.CLS:
                return np.array(tokens[:, 0])
            case Pooling.MAX:
                return np.asarray(np.where(real > 0, tokens, -np.inf).max(axis=1))
            case Pooling.MEAN:
                return np.asarray((tokens * real).sum(axis=1) / count)
            case Pooling.MEAN_SQRT:
                return np.asarray((tokens * real).sum(axis=1) / np.sqrt(count))


def read_recipe(folder: Path) -> VectorRecipe:
    """Read the recipe of an encoder's folder.

    Raises:
        DataCorrupt: a file is damaged, or contains an unsupported step.
    """
    path = folder / "modules.json"
    pooling, normalised = Pooling.MEAN, False
    for place, module in enumerate(_modules(path)):
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind == _POOLING:
            pooling = _read_pooling(folder / str(module.get("path", "")) / "config.json")
        elif kind == _NORMALIZE:
            normalised = True
        elif place or kind != _FIRST:
            raise DataCorrupt(
                f"{path}: module {place} must be {_FIRST}, {_POOLING} or {_NORMALIZE}, "
                f"not {kind or 'nameless'!r}"
            )
    return VectorRecipe(pooling, normalised)


def _modules(path: Path) -> list[Mapping[str, Any]]:
    try:
        modules = json.loads(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise DataCorrupt(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(modules, list) or not all(isinstance(each, dict) for each in modules):
        raise DataCorrupt(f"{path}: must be a list of objects")
    return modules


def _read_pooling(path: Path) -> Pooling:
    flags = [
        name.removeprefix(_FLAG)
        for name, on in read_json_file(path).content.items()
        if name.startswith(_FLAG) and on is True
    ]
    if len(flags) != 1 or flags[0] not in set(Pooling):
        known = ", ".join(f"{_FLAG}{each}" for each in Pooling)
        found = ", ".join(f"{_FLAG}{each}" for each in flags) or "none"
        raise DataCorrupt(f"{path}: exactly one of {known} must be true, not {found}")
    return Pooling(flags[0])
