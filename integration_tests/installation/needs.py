"""What tests need of an installation beyond its orchestrator, and what is left out without."""

import enum
from collections import Counter
from collections.abc import Iterable

import pytest

from .access import Access


class Need(enum.StrEnum):
    """What not every installation gives; the value says what would."""

    CONTROL = "an installation of the tests' own (SCAAR_TARGET unset)"
    EVALUATOR = "SCAAR_EVALUATOR_TARGET"
    METRICS = "SCAAR_METRICS_URLS"
    TLS = "SCAAR_TLS_CA_FILE"
    CERTIFICATE = "SCAAR_TLS_CERT_FILE"
    TOKEN = "SCAAR_TOKEN"


def needs(*all_of: Need) -> pytest.MarkDecorator:
    """Marks a test that needs all of these."""
    return pytest.mark.needs(*all_of)


def lacking(item: pytest.Item, access: Access | None) -> list[Need]:
    """What the test needs and the installation does not give; one of the tests' own gives all."""
    if access is None:
        return []
    given = {
        Need.CONTROL: False,
        Need.EVALUATOR: bool(access.evaluator_target),
        Need.METRICS: bool(access.metrics()),
        Need.TLS: access.ca is not None,
        Need.CERTIFICATE: access.cert is not None,
        Need.TOKEN: bool(access.token),
    }
    return [
        need for mark in item.iter_markers("needs") for need in mark.args if not given[Need(need)]
    ]


def left_out_line(left_out: Iterable[Need]) -> str:
    """One line: how many tests were left out, and what each of them needs."""
    counts = Counter(left_out)
    parts = ", ".join(f"{count} need {need}" for need, count in counts.items())
    return f"{counts.total()} tests of an installation left out: {parts}"
