"""The HTTP statuses of errors, on pages of one call and on pages of several."""

import pytest

from scaar.console import loading, statuses
from scaar.core import errors
from scaar.core.errors import InvalidRequest, ScaarError

OF_THE_SERVICE = {
    errors.DataCorrupt: 500,
    errors.Overloaded: 429,
    errors.BackendUnavailable: 503,
    errors.DeadlineExceeded: 504,
    errors.StreamIncomplete: 502,
}
"""Errors that another request, or the same request later, need not have."""


def error_of(kind: type[ScaarError]) -> ScaarError:
    if issubclass(kind, InvalidRequest):
        return kind.of("question", "must not be empty")
    return kind("the call failed")


REJECTIONS = [
    each
    for each in vars(errors).values()
    if isinstance(each, type)
    and issubclass(each, ScaarError)
    and each not in (ScaarError, *OF_THE_SERVICE)
]


@pytest.mark.parametrize("kind", REJECTIONS)
def test_a_rejected_request_has_the_same_4xx_status_on_every_page(kind: type[ScaarError]) -> None:
    status = statuses.status_of(error_of(kind))
    assert 400 <= status < 410
    assert loading.status_of(error_of(kind)) == status


@pytest.mark.parametrize(("kind", "status"), OF_THE_SERVICE.items())
def test_a_failing_service_has_its_own_status(kind: type[ScaarError], status: int) -> None:
    assert statuses.status_of(error_of(kind)) == status
    assert loading.status_of(error_of(kind)) == 503


def test_an_error_without_a_kind_is_internal() -> None:
    assert statuses.status_of(ScaarError("the call failed")) == 500
