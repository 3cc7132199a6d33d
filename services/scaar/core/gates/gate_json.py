"""The file of a gate: a JSON object with its format and the name of the gate."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaar.core.errors import DataCorrupt
from scaar.core.types import GenerateRequest

FORMAT = 1
"""The version of the file format."""
_REVISION_DIGITS = 12


class JsonFields:
    """A JSON object with checked fields."""

    def __init__(self, fields: Any, where: str) -> None:
        if not isinstance(fields, dict):
            raise DataCorrupt(f"{where}: must be a JSON object")
        self.fields: Mapping[str, Any] = fields
        self._where = where

    def field(self, name: str) -> Any:
        """Return the value of a field that must be there."""
        if name not in self.fields:
            raise DataCorrupt(f"{self._where}: has no {name}")
        return self.fields[name]

    def text(self, name: str) -> str:
        value = self.field(name)
        if not isinstance(value, str):
            raise DataCorrupt(f"{self._where}: {name} must be a string, not {value!r}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._list(name)
        if not all(isinstance(each, str) for each in values):
            raise DataCorrupt(f"{self._where}: {name} must have strings only")
        return tuple(values)

    def object(self, name: str) -> "JsonFields":
        return JsonFields(self.field(name), f"{self._where}, {name}")

    def objects(self, name: str) -> "tuple[JsonFields, ...]":
        return tuple(
            JsonFields(each, f"{self._where}, {name}[{at}]")
            for at, each in enumerate(self._list(name))
        )

    def _list(self, name: str) -> list[Any]:
        values = self.field(name)
        if not isinstance(values, list):
            raise DataCorrupt(f"{self._where}: {name} must be a list, not {values!r}")
        return values

    def number(self, name: str, default: float | None = None) -> float:
        value = self.field(name) if default is None else self.fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DataCorrupt(f"{self._where}: {name} must be a number, not {value!r}")
        if not math.isfinite(value):
            raise DataCorrupt(f"{self._where}: {name} must be finite")
        return float(value)

    def numbers(self, name: str) -> tuple[float, ...]:
        values = self._list(name)
        fields = JsonFields({f"{name}[{at}]": each for at, each in enumerate(values)}, self._where)
        return tuple(fields.number(each) for each in fields.fields)

    def limited(self, name: str, minimum: float, maximum: float, default: float) -> float:
        """Return a number within limits, both included."""
        value = self.number(name, default)
        if not minimum <= value <= maximum:
            text = f"{name} must be {minimum:g} to {maximum:g}, not {value:g}"
            raise DataCorrupt(f"{self._where}: {text}")
        return value

    def whole(
        self, name: str, minimum: int, maximum: int | None = None, default: int | None = None
    ) -> int:
        """Return a whole number within limits, both included."""
        value = self.number(name, default)
        if value != int(value) or value < minimum or (maximum is not None and value > maximum):
            limits = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
            text = f"{name} must be a whole number {limits}, not {value:g}"
            raise DataCorrupt(f"{self._where}: {text}")
        return int(value)

    def share(self, name: str, default: float | None = None) -> float:
        value = self.number(name, default)
        if not 0 < value <= 1:
            raise DataCorrupt(f"{self._where}: {name} must be in (0, 1], not {value:g}")
        return value


@dataclass(frozen=True, slots=True)
class GateDocument:
    """The fields of a gate's file, its digest, and the name of the file for errors."""

    fields: JsonFields
    revision: str
    where: str

    @classmethod
    def empty(cls, where: str) -> "GateDocument":
        """Return a document without fields, from which a gate without a file is read."""
        return cls(JsonFields({}, where), "", where)

    @classmethod
    def read(cls, content: bytes, where: str) -> "GateDocument":
        """Return the document.

        Raises:
            DataCorrupt: the content is not a JSON object of this format.
        """
        try:
            fields = JsonFields(json.loads(content), where)
        except (ValueError, RecursionError) as error:
            raise DataCorrupt(f"{where}: is not JSON: {error}") from error
        if (form := fields.field("format")) != FORMAT:
            raise DataCorrupt(f"{where}: is of format {form!r}; this scaar reads {FORMAT}")
        return cls(fields, hashlib.sha256(content).hexdigest()[:_REVISION_DIGITS], where)

    def sampled(self, samples: int, temperature: float, *, max_tokens: int) -> GenerateRequest:
        """Return a request of samples without a prompt, by the fields or these defaults."""
        return GenerateRequest(
            "",
            max_tokens=max_tokens,
            temperature=self.fields.limited("temperature", 0.01, 2, temperature),
            seed=self.fields.whole("seed", 0, 2**31, 0),
            n=self.fields.whole("samples", 2, 20, samples),
        )


def gate_content(gate: str, fields: Mapping[str, object]) -> bytes:
    """Return the content of the file of a gate with these fields."""
    document = {"format": FORMAT, "gate": gate, **fields}
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
