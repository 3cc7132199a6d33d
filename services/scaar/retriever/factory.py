"""Opens the retriever that the settings name."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, assert_never

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.retriever.settings import RetrieverSettings

if TYPE_CHECKING:
    from scaar.encoders.sentence_encoder import SentenceEncoder
    from scaar.retriever.bm25s_engine import Bm25sRetriever
    from scaar.retriever.opensearch_engine import OpenSearchRetriever

    Engine = Bm25sRetriever | OpenSearchRetriever


@asynccontextmanager
async def open_retriever(settings: RetrieverSettings) -> AsyncIterator["Engine"]:
    """A retriever for the time of the block.

    Raises:
        InvalidRequest: the settings name no folder of indexes, or no server.
        NotFound, DataCorrupt: an index to preload is not there, or is damaged.
        BackendUnavailable: the server that should hold it does not answer.
        CapabilityMissing: the libraries of the engine are not installed.
        NotFound, DataCorrupt: the folder of the encoder is not there, or is none.
    """
    encoder = await _opened_encoder(settings)
    match settings.engine:
        case "bm25s":
            from scaar.retriever.bm25s_engine import Bm25sRetriever

            if settings.indexes is None:
                raise InvalidRequest.of("SCAAR_RETRIEVER_INDEXES", "must name a folder")
            retriever = Bm25sRetriever(settings.indexes, settings, encoder=encoder)
            try:
                await retriever.preload()
                yield retriever
            finally:
                await asyncio.to_thread(retriever.close)
        case "opensearch":
            try:
                from scaar.retriever.opensearch_engine import OpenSearchRetriever
                from scaar.retriever.opensearch_server import open_server
            except ModuleNotFoundError as error:
                text = f"engine opensearch needs {error.name}: install scaar[opensearch]"
                raise CapabilityMissing(text, engine=settings.engine) from error

            async with open_server(settings) as server:
                found = OpenSearchRetriever(server, settings, encoder=encoder)
                try:
                    await found.preload()
                    yield found
                finally:
                    await asyncio.to_thread(found.close)
        case never:
            assert_never(never)


async def _opened_encoder(settings: RetrieverSettings) -> "SentenceEncoder | None":
    if settings.encoder is None:
        return None
    try:
        from scaar.encoders.sentence_encoder import SentenceEncoder
    except ModuleNotFoundError as error:
        text = f"an encoder needs {error.name}: install scaar[dense]"
        raise CapabilityMissing(text) from error
    return await asyncio.to_thread(
        SentenceEncoder.open, settings.encoder, threads=settings.encoder_threads
    )
