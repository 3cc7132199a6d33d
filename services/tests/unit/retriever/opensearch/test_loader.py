import asyncio
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from scaar.core.errors import CapabilityMissing, Overloaded, ScaarError
from scaar.retriever.opensearch import loader as loader_module
from scaar.retriever.opensearch.loader import Loader


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader_module, "_FIRST_DELAY_S", 0.0)


class BulkServer:
    """Receives bulk requests. Returns the next of ``answers``, else success.

    An answer is a status for each line, or an error.
    """

    def __init__(self, answers: Iterable[list[int] | ScaarError] = ()) -> None:
        self.client = SimpleNamespace(bulk=None)
        self.bodies: list[bytes] = []
        self.most = self._now = 0
        self._answers = iter(answers)

    async def call(self, call: object, what: str, *, body: bytes, **arguments: Any) -> Any:
        self.bodies.append(body)
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0)
        self._now -= 1
        match next(self._answers, None):
            case ScaarError() as error:
                raise error
            case list(statuses):
                return {"errors": True, "items": [_item(each) for each in statuses]}
        return {"errors": False}


def _item(status: int) -> Mapping[str, Any]:
    error = {"error": {"type": "x_exception", "reason": "SECRET"}} if status >= 300 else {}
    return {"index": {"status": status, **error}}


def loader(server: BulkServer, *, request_bytes: int = 1, workers: int = 2) -> Loader:
    return Loader(server, "i", request_bytes=request_bytes, workers=workers)  # type: ignore[arg-type]


async def test_size_and_concurrency_of_requests_are_bounded() -> None:
    server = BulkServer()
    loading = loader(server, request_bytes=4, workers=3)
    await loading.put([b"ab"] * 21)
    await loading.finish()
    assert server.bodies == [b"abab"] * 10 + [b"ab"]
    assert server.most == 3


async def test_only_rejected_passages_are_sent_again() -> None:
    server = BulkServer([[201, 429, 201], [429]])
    loading = loader(server, request_bytes=3)
    await loading.put([b"a", b"b", b"c"])
    await loading.finish()
    assert server.bodies == [b"abc", b"b", b"b"]


async def test_a_rejected_request_is_sent_again() -> None:
    server = BulkServer([Overloaded("no room")])
    loading = loader(server)
    await loading.put([b"a"])
    await loading.finish()
    assert server.bodies == [b"a", b"a"]


@pytest.mark.parametrize("answer", [Overloaded("no room"), [429]])
async def test_repeated_overload_ends_the_build(answer: list[int] | ScaarError) -> None:
    server = BulkServer([answer] * 10)
    loading = loader(server)
    await loading.put([b"a"])
    with pytest.raises(Overloaded, match="no room|is overloaded"):
        await loading.finish()
    assert len(server.bodies) == 10


async def test_a_rejected_passage_ends_the_build_and_is_not_quoted() -> None:
    loading = loader(BulkServer([[201, 400]]), request_bytes=2)
    await loading.put([b"a", b"b"])
    with pytest.raises(ScaarError, match=r"refused to load i: status 400 \(x_exception\)$"):
        await loading.finish()


async def test_a_failed_request_is_raised_by_the_next_call() -> None:
    loading = loader(BulkServer([CapabilityMissing("read-only")]), workers=1)
    await loading.put([b"a"])
    with pytest.raises(CapabilityMissing):
        await loading.put([b"b", b"c"])
    await loading.cancel()


async def test_requests_in_progress_are_cancelled() -> None:
    server = BulkServer()
    loading = loader(server)
    await loading.put([b"a"])
    await loading.cancel()
    await loading.finish()
    assert server.bodies == []
