"""Factory of the retriever that the settings select."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, assert_never

from scaar.core.calls.breakers import NO_BREAKERS, Breakers
from scaar.core.distributions import library_required
from scaar.core.errors import InvalidRequest
from scaar.retriever.default_encoders import DefaultEncoders, open_encoder_in
from scaar.retriever.reranking.stage import Reranker
from scaar.retriever.settings import RetrieverSettings

if TYPE_CHECKING:
    from scaar.encoders.sentence_encoder import SentenceEncoder
    from scaar.retriever.local.engine import Bm25sRetriever
    from scaar.retriever.opensearch.engine import OpenSearchRetriever

    Engine = Bm25sRetriever | OpenSearchRetriever


@asynccontextmanager
async def open_retriever(
    settings: RetrieverSettings, *, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator["Engine"]:
    """Open the retriever for the duration of the block. A server that reranks has a breaker.

    Raises:
        InvalidRequest: the settings name neither a folder of indexes nor a server, or two
            rerankers, or an invalid one.
        NotFound, DataCorrupt: an index to preload, or the folder of the encoder or reranker, is
            missing or damaged.
        BackendUnavailable: the server of an index to preload does not respond.
        CapabilityMissing: the libraries of the engine are not installed.
    """
    encoder = await open_encoder(settings)
    async with (
        open_reranker(settings, breakers=breakers) as reranker,
        _open_engine(settings, encoder, reranker) as engine,
    ):
        yield engine


@asynccontextmanager
async def _open_engine(
    settings: RetrieverSettings,
    encoder: "SentenceEncoder | None",
    reranker: Reranker | None,
) -> AsyncIterator["Engine"]:
    default_encoder = DefaultEncoders(threads=settings.encoder_threads)
    match settings.engine:
        case "bm25s":
            with library_required("engine bm25s", "retriever", engine=settings.engine):
                from scaar.retriever.local.engine import Bm25sRetriever

            if settings.indexes is None:
                raise InvalidRequest.of("SCAAR_RETRIEVER_INDEXES", "must be the path of a folder")
            retriever = Bm25sRetriever(
                settings.indexes,
                settings,
                encoder=encoder,
                default_encoder=default_encoder,
                reranker=reranker,
            )
            try:
                await retriever.preload()
                yield retriever
            finally:
                await asyncio.to_thread(retriever.close)
        case "opensearch":
            with library_required("engine opensearch", "opensearch", engine=settings.engine):
                from scaar.retriever.opensearch.engine import OpenSearchRetriever
                from scaar.retriever.opensearch.server import open_server

            async with open_server(settings) as server:
                found = OpenSearchRetriever(
                    server,
                    settings,
                    encoder=encoder,
                    default_encoder=default_encoder,
                    reranker=reranker,
                )
                try:
                    await found.preload()
                    yield found
                finally:
                    await asyncio.to_thread(found.close)
        case never:
            assert_never(never)


@asynccontextmanager
async def open_reranker(
    settings: RetrieverSettings, *, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator[Reranker | None]:
    """Open the reranker of the settings for the duration of the block; None without one."""
    if settings.reranker is not None and settings.rerank_url is not None:
        text = "must not be set together with SCAAR_RETRIEVER_RERANKER"
        raise InvalidRequest.of("SCAAR_RETRIEVER_RERANK_URL", text)
    if settings.reranker is not None:
        with library_required("the reranker", "dense"):
            from scaar.retriever.reranking.onnx import open_onnx_reranker

        threads = settings.reranker_threads
        async with open_onnx_reranker(settings.reranker, threads=threads) as reranker:
            yield reranker
    elif settings.rerank_url is not None:
        with library_required("a reranking server", "rerank"):
            from scaar.retriever.reranking.remote import open_remote_reranker

        breaker = breakers.of_server("reranker", settings.rerank_url)
        async with open_remote_reranker(settings, breaker) as remote:
            yield remote
    else:
        yield None


async def open_encoder(settings: RetrieverSettings) -> "SentenceEncoder | None":
    """Return the encoder that the settings name; None without one."""
    if settings.encoder is None:
        return None
    threads = settings.encoder_threads
    return await asyncio.to_thread(open_encoder_in, settings.encoder, threads=threads)
