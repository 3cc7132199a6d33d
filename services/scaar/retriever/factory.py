"""Opens the retriever that the settings name."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, assert_never

from scaar.core.errors import InvalidRequest
from scaar.retriever.settings import RetrieverSettings

if TYPE_CHECKING:
    from scaar.retriever.bm25s_engine import Bm25sRetriever


@asynccontextmanager
async def open_retriever(settings: RetrieverSettings) -> AsyncIterator["Bm25sRetriever"]:
    """A retriever for the time of the block.

    Raises:
        InvalidRequest: the settings name no folder of indexes.
        NotFound, DataCorrupt: an index to preload is not there, or is damaged.
    """
    match settings.engine:
        case "bm25s":
            from scaar.retriever.bm25s_engine import Bm25sRetriever

            if settings.indexes is None:
                raise InvalidRequest.of("SCAAR_RETRIEVER_INDEXES", "must name a folder")
            retriever = Bm25sRetriever(settings.indexes, settings)
            try:
                await retriever.preload()
                yield retriever
            finally:
                await asyncio.to_thread(retriever.close)
        case never:
            assert_never(never)
