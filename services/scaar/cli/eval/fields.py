"""The options of the command line that stand for the fields of an evaluation."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from scaar.core.errors import InvalidRequest, Violation
from scaar.evaluation import questions

OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "dataset": "--dataset",
        "path": "--dataset",
        "count": "--limit",
        "limit": "--limit",
        "seed": "--seed",
        "style": "--style",
        "tail_share": "--tail-share",
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
        "work": "--work",
        "cache_generations": "--cache-generations",
    }
)
"""The option of each field."""


@contextmanager
def named_by_options() -> Iterator[None]:
    """Name the fields of an invalid request by their options."""
    try:
        yield
    except InvalidRequest as error:
        raise InvalidRequest(
            [
                Violation(OPTIONS.get(each.field, each.field), each.description)
                for each in error.violations
            ]
        ) from error


draw = named_by_options()(questions.draw)
"""Draws the questions of ``--dataset``; an error names the option."""
