"""Reading back ends for a page."""

import asyncio

import pytest

from scaar.console.loading import Loading, loaded_or
from scaar.core.errors import BackendUnavailable, NotFound, Overloaded, ScaarError


async def answering(port: str) -> str:
    return f"read {port}"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFound("there is no such thing"), 404),
        (BackendUnavailable("nobody answers"), 503),
        (Overloaded("too many calls"), 503),
    ],
)
async def test_the_first_failure_that_is_needed_is_the_status(
    error: ScaarError, status: int
) -> None:
    async def failing(port: str) -> str:
        raise error

    loading = Loading()
    assert await loading.want("evaluator", "port", failing) is None
    assert loading.status == 200
    assert await loading.need("evaluator", "port", failing) is None
    assert await loading.need("records", None, answering) is None
    assert loading.status == status
    assert [error.message in each for each in loading.notices] == [True, False]


async def test_what_can_be_read_is_returned() -> None:
    loading = Loading()
    assert await loading.need("records", "port", answering) == "read port"
    assert (loading.status, loading.notices) == (200, [])


async def test_a_service_that_does_not_answer_is_named() -> None:
    async def hanging(port: str) -> str:
        await asyncio.Event().wait()
        return port

    loading = Loading()
    assert await loading.need("evaluator", "port", hanging, timeout_s=0.01) is None
    assert loading.status == 503
    assert loading.notices == ["The evaluator did not answer within 0.01 s. Reload the page later."]


async def test_a_default_replaces_what_fails() -> None:
    async def failing() -> tuple[str, ...]:
        raise BackendUnavailable("nobody answers")

    assert await loaded_or(("default",), failing()) == ("default",)
