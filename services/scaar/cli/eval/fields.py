"""The options of the command line that stand for the fields of an evaluation."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from scaar.cli.addresses import check_address
from scaar.compose import EMBEDDED
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.evaluation import questions
from scaar.evaluation.addresses import Addresses
from scaar.evaluation.field_names import named_by

OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "dataset": "--dataset",
        "path": "--dataset",
        "count": "--limit",
        "limit": "--limit",
        "seed": "--seed",
        "style": "--style",
        "tail_share": "--tail-share",
        "freedom": "--freedom",
        "scorers": "--scorer",
        "gates": "--gate",
        "indexes": "--index",
        "addresses": "--address",
        "grid": "--grid",
        "theta_candidates": "--grid",
        "ablation": "NAME",
        "out": "--out",
        "format": "--format",
        "triggers": "--trigger",
        "queries": "--query",
        "alphas": "--alpha",
        "labels": "--label",
        "latency_weight": "--latency-weight",
        "unit_times_ms": "--unit-time",
        "curve_sizes": "--learning-curve",
        "work": "--work",
        "qrels": "--qrels",
        "measures": "--measures",
        "depth": "--depth",
        "recall": "--recall",
        "top_k": "--top-k",
        "cache_generations": "--cache-generations",
    }
)
"""The option of each field."""


@contextmanager
def named_by_options() -> Iterator[None]:
    """Name the fields of an invalid request by their options."""
    with named_by(lambda field: OPTIONS.get(field, field)):
        yield


draw = named_by_options()(questions.draw)
"""Draws the questions of ``--dataset``; an error names the option."""


def parse_addresses(given: Sequence[str]) -> Addresses:
    """Parse texts such as ``HOST:PORT`` and ``CONTROL=HOST:PORT``; the default is embedded.

    Raises:
        InvalidRequest: names every duplicate, and every name that is not a control.
    """
    itself: list[str] = []
    controls: dict[Control, str] = {}
    wrong: list[Violation] = []
    for text in given:
        name, equals, target = text.partition("=")
        if not equals or "/" in name:
            itself.append(text)
        elif name not in list(Control):
            known = ", ".join(Control)
            wrong.append(_wrong(f"there is no control {name!r} of the scorer; known: {known}"))
        elif Control(name) in controls:
            wrong.append(_wrong(f"{name} is given twice"))
        else:
            controls[Control(name)] = target
    if len(itself) > 1:
        wrong.append(_wrong(f"is given twice: {', '.join(itself)}"))
    for target in (*itself[:1], *controls.values()):
        try:
            check_address(target)
        except InvalidRequest as error:
            wrong += error.violations
    if wrong:
        raise InvalidRequest(wrong)
    return Addresses(itself[0] if itself else EMBEDDED, controls)


def _wrong(description: str) -> Violation:
    return Violation("--address", description)
