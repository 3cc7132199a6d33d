"""The files and folders that settings name, opened as the services open them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from scaar.compose import open_counts, open_gate, read_filter, reranker_folder
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.retriever.factory import open_encoder, open_reranker
from scaar.retriever.settings import RetrieverSettings

FileCheck = tuple[str, Callable[[], Awaitable[str]]]
"""The variable of a setting, and a check that returns its value once the file is opened."""


def orchestrator_files(settings: OrchestratorSettings) -> Iterator[FileCheck]:
    """Yield a check of each file that the settings of an orchestrator name."""

    async def opened(path: object, opening: Callable[[OrchestratorSettings], object]) -> str:
        await asyncio.to_thread(opening, settings)
        return str(path)

    for name, path, opening in (
        ("GATE_FILE", settings.gate_file, open_gate),
        ("SENTENCE_FILTER_FILE", settings.sentence_filter_file, read_filter),
        ("CORPUS_COUNTS_FILE", settings.corpus_counts_file, open_counts),
    ):
        if path is not None:
            yield f"SCAAR_ORCHESTRATOR_{name}", partial(opened, path, opening)


def retriever_files(settings: RetrieverSettings) -> Iterator[FileCheck]:
    """Yield a check of the encoder and of the reranker that the settings of a retriever name."""

    async def encoder() -> str:
        await open_encoder(settings)
        return str(settings.encoder)

    async def reranker() -> str:
        given = {"reranker": reranker_folder(settings.reranker)}
        async with open_reranker(settings.model_copy(update=given)):
            return str(settings.reranker or settings.rerank_url)

    if settings.encoder is not None:
        yield "SCAAR_RETRIEVER_ENCODER", encoder
    if settings.reranker is not None:
        yield "SCAAR_RETRIEVER_RERANKER", reranker
    elif settings.rerank_url is not None:
        yield "SCAAR_RETRIEVER_RERANK_URL", reranker
