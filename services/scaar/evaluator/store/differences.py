"""Differences between a stored evaluation and a requested one."""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from scaar.evaluator.records import Setting
from scaar.evaluator.results import Evaluation
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.record_json import RecordJson

_EVALUATION = RecordJson(Evaluation)
_SPEC = RecordJson(EvaluationSpec)
_MAX_LISTED = 5
_NO_DIFFERENCE = ("created", "dataset.path")
"""Fields that may differ: the questions of a moved file are the same."""


def differences(stored: Evaluation, requested: Evaluation) -> list[str]:
    """Describe the first differences; none if the request can resume the stored evaluation."""
    return _of_settings(stored.settings, requested.settings) or changed(
        _EVALUATION.plain(stored), _EVALUATION.plain(requested), ignored=_NO_DIFFERENCE
    )


def spec_differences(stored: EvaluationSpec, requested: EvaluationSpec) -> list[str]:
    """Describe the first differences of specifications; none if they are of the same request."""
    return _of_settings(stored.settings, requested.settings) or changed(
        _SPEC.plain(stored), _SPEC.plain(requested), ignored=_NO_DIFFERENCE
    )


def changed(stored: object, requested: object, *, ignored: Collection[str]) -> list[str]:
    """Describe the first values that differ between two records as JSON, except ``ignored``."""
    before, now = (dict(_flat("", one)) for one in (stored, requested))
    names = [name for name in {**before, **now} if name not in ignored]
    described = (
        f"{name} is {before.get(name)!r} in the stored one and {now.get(name)!r} now"
        for name in names
        if before.get(name) != now.get(name)
    )
    return list(islice(described, _MAX_LISTED))


def _of_settings(stored: Sequence[Setting], requested: Sequence[Setting]) -> list[str]:
    labels, expected = ([each.label for each in settings] for settings in (stored, requested))
    if labels == expected:
        return []
    gone = [
        f"setting {label} is only in the stored one" for label in labels if label not in expected
    ]
    new = [f"setting {label} is only requested" for label in expected if label not in labels]
    return (gone + new)[:_MAX_LISTED] or ["the settings are in another order"]


def _flat(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Every leaf value with its dotted name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), inner)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _flat(f"{name}[{position}]", inner)
    else:
        yield name, value
