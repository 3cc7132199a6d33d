"""Warnings about environment variables that look like misspelled settings of scaar."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from scaar.cli.serve.services import ServiceName
from scaar.cli.settings import settings_class
from scaar.runtime.breaker_settings import BreakerSettings
from scaar.runtime.channel_security import ChannelSecurity
from scaar.runtime.config_file import CONFIG_VARIABLE
from scaar.runtime.settings import Settings, variable_of

PREFIX = "SCAAR_"
MAX_EDITS = 2
"""Largest number of edits between a variable and the setting that it is taken for."""
_OTHERS = ("SCAAR_HOME", CONFIG_VARIABLE)
# Kubernetes sets these for every Service of a namespace:
# https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
_KUBERNETES = re.compile(
    r"_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT$|_PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?$"
)


@dataclass(frozen=True, slots=True)
class UnknownVariable:
    """A variable that is not a setting, and the setting that it resembles."""

    name: str
    suggestion: str

    def __str__(self) -> str:
        return f"{self.name} is not a setting; did you mean {self.suggestion}?"


def warn_of_unknown_variables() -> None:
    """Print a warning for every variable of this process that resembles a setting."""
    for each in unknown_variables(os.environ):
        print(f"scaar: warning: {each}", file=sys.stderr, flush=True)


def unknown_variables(environment: Mapping[str, str]) -> tuple[UnknownVariable, ...]:
    """Return the variables that resemble a setting by at most ``MAX_EDITS`` edits, by name.

    Variables of the service discovery of Kubernetes are left out.
    """
    known = frozenset(_known())
    return tuple(
        UnknownVariable(name, suggestion)
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in known and not _KUBERNETES.search(name)
        if (suggestion := _nearest(name, known))
    )


def _known() -> Iterator[str]:
    classes: list[type[Settings]] = [
        *(settings_class(service) for service in ServiceName),
        ChannelSecurity,
        BreakerSettings,
    ]
    yield from _OTHERS
    for cls in classes:
        for field in cls.model_fields:
            yield variable_of(cls, field)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    near = [(edits(name, each), each) for each in known if abs(len(name) - len(each)) <= MAX_EDITS]
    return min(((count, each) for count, each in near if count <= MAX_EDITS), default=(0, None))[1]


def edits(one: str, other: str) -> int:
    """Return the edit distance of two texts: insertions, deletions, substitutions and swaps.

    A swap of two neighbouring letters counts as one edit (optimal string alignment).
    """
    row_before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above_row, row_above, row = row_before, row, [i]
        for j, opposite in enumerate(other, 1):
            cost = min(row_above[j] + 1, row[j - 1] + 1, row_above[j - 1] + (letter != opposite))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == opposite:
                cost = min(cost, above_row[j - 2] + 1)
            row.append(cost)
        row_before = row_above
    return row[-1]
