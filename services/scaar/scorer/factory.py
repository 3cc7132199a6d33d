"""Factory of the scorer that the settings select."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import assert_never

from scaar.core.controls import Control
from scaar.core.distributions import library_required
from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.core.ports import ContributionScorer
from scaar.scorer.cache import open_cached_scorer
from scaar.scorer.settings import ScorerSettings


@asynccontextmanager
async def open_scorer(
    settings: ScorerSettings, *, observer: ScorerObserver = UNOBSERVED
) -> AsyncIterator[ContributionScorer]:
    """Open the scorer for the duration of the block, with a cache if the settings enable one.

    Raises:
        NotFound: no model is set, or one of its files is missing.
        DataCorrupt: a file of the model is damaged, or the engine cannot run the model.
        InvalidRequest: a setting that the engine needs is missing.
        CapabilityMissing: the server does not have the model, or has an incompatible one; or a
            library of the engine or of the control is not installed.
    """
    match settings.control:
        case "none":
            async with _open_cached(settings, observer) as scorer:
                yield scorer
        case "idf":
            # The control uses no model, so none has to be configured.
            from scaar.scorer.controls.idf import open_idf_scorer

            async with open_idf_scorer() as scorer:
                yield scorer
        case "permuted" | "constant":
            from scaar.scorer.controls.factory import open_control

            # The cache contains the model's contributions, since a control is cheap to compute.
            async with (
                _open_cached(settings, observer) as engine,
                open_control(Control(settings.control), engine) as scorer,
            ):
                yield scorer
        case _:
            assert_never(settings.control)


@asynccontextmanager
async def _open_cached(
    settings: ScorerSettings, observer: ScorerObserver
) -> AsyncIterator[ContributionScorer]:
    async with _open_engine(settings, observer) as engine:
        if not settings.cache_entries:
            yield engine
            return
        async with open_cached_scorer(
            engine, max_entries=settings.cache_entries, observer=observer
        ) as scorer:
            yield scorer


@asynccontextmanager
async def _open_engine(
    settings: ScorerSettings, observer: ScorerObserver
) -> AsyncIterator[ContributionScorer]:
    match settings.engine:
        case "onnx":
            with library_required("engine onnx", "scorer", engine="onnx"):
                from scaar.scorer.engines.onnx import open_onnx_scorer

            async with open_onnx_scorer(settings, observer=observer) as scorer:
                yield scorer
        case "bi_encoder":
            with library_required("engine bi_encoder", "scorer", engine="bi_encoder"):
                from scaar.scorer.engines.onnx import open_bi_encoder_scorer

            async with open_bi_encoder_scorer(settings, observer=observer) as scorer:
                yield scorer
        case "triton":
            with library_required("engine triton", "triton", engine="triton"):
                from scaar.scorer.engines.triton import open_triton_scorer

            async with open_triton_scorer(settings, observer=observer) as scorer:
                yield scorer
        case _:
            assert_never(settings.engine)
