import asyncio
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from scaar.core.errors import CapabilityMissing, Overloaded, ScaarError
from scaar.retriever import opensearch_loader
from scaar.retriever.opensearch_loader import Loader


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opensearch_loader, "_FIRST_WAIT_S", 0.0)


class BulkServer:
    """Takes bulk requests; each answer is the next of ``answers``, else that all is well.

    An answer is a status for each line, or an error.
    """

    def __init__(self, answers: Iterable[list[int] | ScaarError] = ()) -> None:
        self.client = SimpleNamespace(bulk=None)
        self.bodies: list[bytes] = []
        self.most = self._now = 0
        self._answers = iter(answers)

    async def ask(self, call: object, what: str, *, body: bytes, **arguments: Any) -> Any:
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


async def test_requests_are_of_a_size_and_no_more_at_a_time_than_may_be() -> None:
    server = BulkServer()
    loading = loader(server, request_bytes=4, workers=3)
    await loading.put([b"ab"] * 21)
    await loading.finish()
    assert server.bodies == [b"abab"] * 10 + [b"ab"]
    assert server.most == 3


async def test_what_had_no_room_is_sent_again_alone() -> None:
    server = BulkServer([[201, 429, 201], [429]])
    loading = loader(server, request_bytes=3)
    await loading.put([b"a", b"b", b"c"])
    await loading.finish()
    assert server.bodies == [b"abc", b"b", b"b"]


async def test_a_request_that_had_no_room_is_sent_again_whole() -> None:
    server = BulkServer([Overloaded("no room")])
    loading = loader(server)
    await loading.put([b"a"])
    await loading.finish()
    assert server.bodies == [b"a", b"a"]


@pytest.mark.parametrize("answer", [Overloaded("no room"), [429]])
async def test_no_room_for_long_ends_the_load(answer: list[int] | ScaarError) -> None:
    server = BulkServer([answer] * 10)
    loading = loader(server)
    await loading.put([b"a"])
    with pytest.raises(Overloaded, match="no room"):
        await loading.finish()
    assert len(server.bodies) == 10


async def test_a_passage_that_is_refused_ends_the_load_without_its_words() -> None:
    loading = loader(BulkServer([[201, 400]]), request_bytes=2)
    await loading.put([b"a", b"b"])
    with pytest.raises(ScaarError, match=r"refused to load i: status 400 \(x_exception\)$"):
        await loading.finish()


async def test_a_request_that_failed_is_told_at_the_next() -> None:
    loading = loader(BulkServer([CapabilityMissing("read-only")]), workers=1)
    await loading.put([b"a"])
    with pytest.raises(CapabilityMissing):
        await loading.put([b"b", b"c"])
    await loading.abandon()


async def test_what_is_under_way_ends_when_it_is_abandoned() -> None:
    server = BulkServer()
    loading = loader(server)
    await loading.put([b"a"])
    await loading.abandon()
    await loading.finish()
    assert server.bodies == []
