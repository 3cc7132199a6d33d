"""``--filter field=value,value``: filters on the metadata of passages."""

import csv
from collections.abc import Sequence
from typing import Annotated

import typer

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import Filter

Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="FIELD=VALUE[,VALUE]",
        help="Retrieve only passages whose metadata field has one of the values; repeatable, and "
        "all filters must match. Quote a value that contains a comma.",
    ),
]


def parse_filters(given: Sequence[str]) -> tuple[Filter, ...]:
    """Parse ``field=value,value`` texts into filters.

    Raises:
        InvalidRequest: a text is not a filter.
    """
    found, wrong = [], []
    for text in given:
        field, equals, values = text.partition("=")
        try:
            row = next(csv.reader([values], strict=True)) if equals else []
        except csv.Error:
            row = []
        if row:
            found.append(Filter(field, tuple(row)))
        else:
            wrong.append(Violation("--filter", f"must be field=value or field=a,b, not {text!r}"))
    if wrong:
        raise InvalidRequest(wrong)
    return tuple(found)
