"""Policy artefacts as JSON.

A file has one JSON object with the fields of :class:`~scaar.core.types.PolicyArtefact` and the
version of the format. Fields that are None are left out. An unknown field is an error, so that no
setting of a later version is ignored.
"""

import dataclasses
import enum
import hashlib
import json
import math
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from scaar.core.errors import DataCorrupt, Violation
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import check_policy
from scaar.core.policies.settings import SETTINGS
from scaar.core.triggers import learned
from scaar.core.types import PolicyArtefact, PolicyOverrides, PolicyRequest

FORMAT = 1
"""The version of the file format."""
MAX_NAME_CHARACTERS = 64
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_Value = TypeVar("_Value")
# A file is JSON.
Json = Any


def with_digest(artefact: PolicyArtefact) -> PolicyArtefact:
    """Return the artefact with the digest of its other fields.

    Raises:
        DataCorrupt: a field is invalid; names it.
    """
    artefact = dataclasses.replace(artefact, digest=digest_of(artefact))
    check_artefact(artefact, f"artefact {artefact.name!r}")
    return artefact


def digest_of(artefact: PolicyArtefact) -> str:
    """Return the SHA-256 of the canonical JSON of all fields except the digest."""
    content = {"format": FORMAT, **_plain(dataclasses.replace(artefact, digest=""))}
    del content["digest"]
    canonical = json.dumps(
        _whole(content), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def artefact_to_json(artefact: PolicyArtefact) -> bytes:
    """Return the content of an artefact's file, with its digest."""
    document = {"format": FORMAT, **_plain(with_digest(artefact))}
    return json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"


def artefact_from_json(content: bytes, where: str) -> PolicyArtefact:
    """Return the artefact of a file's content; ``where`` names the file in errors.

    Raises:
        DataCorrupt: names the field that is missing, unknown or invalid, or the wrong digest.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataCorrupt(f"{where}: is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise DataCorrupt(f"{where}: must be a JSON object")
    form = document.pop("format", None)
    if form is None:
        raise DataCorrupt(f"{where}: has no format")
    if form != FORMAT:
        raise DataCorrupt(f"{where}: format: is {form!r}; this scaar reads {FORMAT}")
    reader = _Reader(where)
    artefact: PolicyArtefact = reader.record(PolicyArtefact, document, "")
    check_artefact(artefact, where)
    return artefact


def check_artefact(artefact: PolicyArtefact, where: str) -> None:
    """Pass an artefact whose fields are valid and whose digest is right.

    Raises:
        DataCorrupt: names the first invalid field.
    """
    for wrong in _wrong(artefact):
        raise DataCorrupt(f"{where}: {wrong}")
    if artefact.digest != (digest := digest_of(artefact)):
        text = f"is {artefact.digest!r}, and that of the content is {digest!r}"
        raise DataCorrupt(f"{where}: digest: {text}: the file was changed; tune again")


def name_problem(name: str) -> str:
    """Return why a tuned policy cannot have this name; empty if it can."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARACTERS:
        text = "must be lower-case letters, digits and . _ -, first a letter or digit, at most"
        return f"{text} {MAX_NAME_CHARACTERS} characters, not {name!r}"
    return f"is that of a published policy: {name}" if name in PRESETS else ""


def _wrong(artefact: PolicyArtefact) -> typing.Iterator[Violation]:
    if problem := name_problem(artefact.name):
        yield Violation("name", problem)
    if artefact.policy not in PRESETS:
        yield Violation("policy", PRESETS.unknown(artefact.policy))
        return
    request = PolicyRequest(artefact.policy, artefact.settings, learned=artefact.learned)
    for each in check_policy(request):
        field = each.field.removeprefix("policy.")
        of_artefact = field.startswith(learned.NAME)
        yield Violation(field if of_artefact else f"settings.{field}", each.description)
    if not artefact.tuned_on.model:
        yield Violation("tuned_on.model", "must not be empty")
    yield from _wrong_figures(artefact)


def _wrong_figures(artefact: PolicyArtefact) -> typing.Iterator[Violation]:
    development, expected, risk = artefact.development, artefact.expected, artefact.risk
    latency = artefact.latency
    at_least_one = {
        "development.questions": development.questions,
        "development.candidates": development.candidates,
        "risk.answers": risk.answers if risk else None,
    }
    shares = {
        "expected.trigger_rate": expected.trigger_rate,
        "risk.max_risk": risk.max_risk if risk else None,
        "risk.delta": risk.delta if risk else None,
        "risk.risk": risk.risk if risk else None,
        "risk.caught": risk.caught if risk else None,
        "risk.false_alarms": risk.false_alarms if risk else None,
    }
    for field, count in at_least_one.items():
        if count is not None and count < 1:
            yield Violation(field, f"must be at least 1, not {count}")
    at_least_zero = {"expected.searches_per_answer": expected.searches_per_answer}
    if latency is not None:
        at_least_zero["latency.weight"] = latency.weight
        at_least_zero["latency.seconds_per_answer"] = latency.seconds_per_answer
        for at, each in enumerate(latency.unit_times_ms):
            at_least_zero[f"latency.unit_times_ms[{at}].ms"] = each.ms
    for field, number in at_least_zero.items():
        if number < 0:
            yield Violation(field, f"must be at least 0, not {number:g}")
    for field, share in shares.items():
        if share is not None and not 0 <= share <= 1:
            yield Violation(field, f"must be in [0, 1], not {share:g}")
    quality = development.quality
    if quality is not None and not quality.low <= quality.value <= quality.high:
        yield Violation("development.quality", "must be within its interval")


def _plain(value: Json) -> Json:
    """Return a record as JSON values, without fields that are None."""
    if dataclasses.is_dataclass(value):
        given = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return {name: _plain(each) for name, each in given.items() if each is not None}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.value if isinstance(value, enum.Enum) else value


def _whole(value: Json) -> Json:
    """Return JSON values with whole numbers as such: ``1.0`` and ``1`` have the same digest."""
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Reader:
    """Reads JSON values by the type hints of dataclasses."""

    def __init__(self, where: str) -> None:
        self._where = where

    def record(self, kind: type[_Value], value: Json, path: str) -> _Value:
        """Return the dataclass of a JSON object; ``path`` is empty or ends with a dot."""
        if not isinstance(value, dict):
            raise self._error(path.rstrip("."), f"must be a JSON object, not {value!r}")
        if kind is PolicyOverrides:
            # Settings have types of their own, in the table of settings.
            hints: Mapping[str, Any] = {name: each.kind for name, each in SETTINGS.items()}
        else:
            hints = typing.get_type_hints(kind)
        if unknown := sorted(value.keys() - hints.keys()):
            raise self._error(f"{path}{unknown[0]}", "is not a field of this format")
        given = {name: self._value(hints[name], each, path + name) for name, each in value.items()}
        for each in dataclasses.fields(kind):  # type: ignore[arg-type]
            if each.name not in given and each.default is dataclasses.MISSING:
                raise self._error(f"{path}{each.name}", "is missing")
        return kind(**given)

    def _value(self, hint: Any, value: Json, path: str) -> Any:
        if isinstance(hint, types.UnionType):
            hint = next(each for each in typing.get_args(hint) if each is not types.NoneType)
        if typing.get_origin(hint) is tuple:
            if not isinstance(value, list):
                raise self._error(path, f"must be a list, not {value!r}")
            (item, *_) = typing.get_args(hint)
            return tuple(
                self._value(item, each, f"{path}[{position}]")
                for position, each in enumerate(value)
            )
        if dataclasses.is_dataclass(hint):
            return self.record(typing.cast("type[Any]", hint), value, f"{path}.")
        if issubclass(hint, enum.StrEnum):
            if value not in tuple(hint):
                raise self._error(path, f"must be one of {', '.join(hint)}, not {value!r}")
            return hint(value)
        if hint is float and type(value) in (int, float):
            if not math.isfinite(value):
                raise self._error(path, "must be finite")
            return float(value)
        if type(value) is hint:
            return value
        words = {bool: "true or false", int: "a whole number", str: "a string"}
        raise self._error(path, f"must be {words.get(hint, 'a number')}, not {value!r}")

    def _error(self, path: str, problem: str) -> DataCorrupt:
        return DataCorrupt(f"{self._where}: {path}: {problem}")
