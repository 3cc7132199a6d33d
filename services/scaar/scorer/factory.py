"""Opens the scorer that the settings name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import assert_never

from scaar.core.ports import ContributionScorer
from scaar.scorer.cache import open_cached_scorer
from scaar.scorer.settings import ScorerSettings


@asynccontextmanager
async def open_scorer(settings: ScorerSettings) -> AsyncIterator[ContributionScorer]:
    """The scorer, open until the block ends, with a memory where the settings give it one.

    Raises:
        NotFound: no model is set, or one of its files is missing.
        DataCorrupt: a file of the model is damaged, or not of a model that the engine can run.
        InvalidRequest: a setting that the engine needs is missing.
        CapabilityMissing: the server has no such model, or one that does not fit.
    """
    async with _open_engine(settings) as engine:
        if not settings.cache_entries:
            yield engine
            return
        async with open_cached_scorer(engine, entries=settings.cache_entries) as scorer:
            yield scorer


@asynccontextmanager
async def _open_engine(settings: ScorerSettings) -> AsyncIterator[ContributionScorer]:
    match settings.engine:
        case "onnx":
            from scaar.scorer.engines.onnx import open_onnx_scorer

            async with open_onnx_scorer(settings) as scorer:
                yield scorer
        case "triton":
            from scaar.scorer.engines.triton import open_triton_scorer

            async with open_triton_scorer(settings) as scorer:
                yield scorer
        case _:
            assert_never(settings.engine)
