"""A gate's proxy as JSON and back."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from scaar.core.errors import DataCorrupt
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.word_statistics import WordStatistics

FORMAT = 1
"""The version of the form in which proxies are kept."""
WEIGHTS = ("average_frequency", "rarest_frequency", "confidence")
_REVISION_DIGITS = 12


def proxy_to_json(proxy: GateProxy, *, learned_from: Mapping[str, object]) -> bytes:
    """The proxy for a file; ``learned_from`` is told there, and read by nobody."""
    document = {
        "format": FORMAT,
        "gate": "gece_proxy",
        "model": proxy.model,
        "learned_from": dict(learned_from),
        "threshold": proxy.threshold,
        "bias": proxy.bias,
        "weights": dict(zip(WEIGHTS, proxy.weights, strict=True)),
        "words": {
            "source": proxy.statistics.source,
            "unseen": proxy.statistics.unseen,
            "frequencies": dict(proxy.statistics.frequencies),
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"


def proxy_from_json(content: bytes, where: str) -> GateProxy:
    """The proxy of a file's content; its revision is a digest of that.

    Raises:
        DataCorrupt: it is no proxy, naming what is missing or wrong.
    """
    try:
        document = json.loads(content)
    except ValueError as error:
        raise DataCorrupt(f"{where}: is not JSON: {error}") from error
    read = _Reading(document, where)
    if (form := read.held("format")) != FORMAT:
        raise DataCorrupt(f"{where}: is of format {form!r}; this scaar reads {FORMAT}")
    words = _Reading(read.held("words"), f"{where}, words")
    weights = _Reading(read.held("weights"), f"{where}, weights")
    frequencies = _Reading(words.held("frequencies"), f"{where}, words, frequencies")
    return GateProxy(
        model=read.text("model"),
        revision=hashlib.sha256(content).hexdigest()[:_REVISION_DIGITS],
        statistics=WordStatistics(
            source=words.text("source"),
            frequencies={word: frequencies.share(word) for word in frequencies.fields},
            unseen=words.share("unseen"),
        ),
        bias=read.number("bias"),
        weights=(
            weights.number(WEIGHTS[0]),
            weights.number(WEIGHTS[1]),
            weights.number(WEIGHTS[2]),
        ),
        threshold=read.share("threshold"),
    )


class _Reading:
    """An object of JSON whose members are taken by name and refused by name."""

    def __init__(self, fields: Any, where: str) -> None:
        if not isinstance(fields, dict):
            raise DataCorrupt(f"{where}: must be a JSON object")
        self.fields: Mapping[str, Any] = fields
        self._where = where

    def held(self, name: str) -> Any:
        if name not in self.fields:
            raise DataCorrupt(f"{self._where}: has no {name}")
        return self.fields[name]

    def text(self, name: str) -> str:
        value = self.held(name)
        if not isinstance(value, str):
            raise DataCorrupt(f"{self._where}: {name} must be a string, not {value!r}")
        return value

    def number(self, name: str) -> float:
        value = self.held(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DataCorrupt(f"{self._where}: {name} must be a number, not {value!r}")
        if not math.isfinite(value):
            raise DataCorrupt(f"{self._where}: {name} must be finite")
        return float(value)

    def share(self, name: str) -> float:
        value = self.number(name)
        if not 0 < value <= 1:
            raise DataCorrupt(f"{self._where}: {name} must be in (0, 1], not {value:g}")
        return value
