"""An index on OpenSearch that is dropped and rebuilt during reads is complete or missing."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

from scaar.core.errors import NotFound, ScaarError
from scaar.core.types import IndexMode, Passage, RetrieveRequest
from scaar.retriever.factory import open_retriever

from ..servers.opensearch.node import Node
from .conftest import settings_for, stream

PASSAGES = tuple(Passage(f"p{each}", "Etna", f"volcano number {each}") for each in range(20))
ROUNDS = 6


async def test_an_index_that_is_deleted_and_rebuilt_is_complete_or_absent(
    shared_node: Node,
) -> None:
    settings = settings_for(shared_node)
    reported: Counter[str] = Counter()
    ended = asyncio.Event()

    async with open_retriever(settings) as builder, open_retriever(settings) as reader:

        async def search() -> str:
            found = await reader.retrieve(RetrieveRequest(("volcano",), 100, "geo"))
            return f"found {len(found.results[0])}"

        async def list_() -> str:
            indexes = await reader.list_indexes()
            return "; ".join(each.damage or "whole" for each in indexes) or "not there"

        async def describe() -> str:
            return f"of {(await reader.describe_index('geo')).passages}"

        async def call(asking: Callable[[], Awaitable[str]]) -> None:
            while not ended.is_set():
                try:
                    reported[await asking()] += 1
                except NotFound:
                    reported["not there"] += 1
                except ScaarError as error:
                    reported[f"{type(error).__name__}: {error}"] += 1

        async with asyncio.TaskGroup() as group:
            for asking in (search, search, search, list_, describe):
                group.create_task(call(asking))
            for _ in range(ROUNDS):
                with suppress(NotFound):
                    await builder.drop_index("geo")
                await builder.index_passages("geo", stream(PASSAGES))
                await builder.index_passages("geo", stream(PASSAGES), mode=IndexMode.REPLACE)
            ended.set()
    assert set(reported) == {"not there", "found 20", "whole", "of 20"}
