"""Opens the scorer that the settings name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import assert_never

from scaar.core.ports import ContributionScorer
from scaar.scorer.settings import ScorerSettings


@asynccontextmanager
async def open_scorer(settings: ScorerSettings) -> AsyncIterator[ContributionScorer]:
    """The scorer, open until the block ends.

    Raises:
        NotFound: no model is set, or one of its files is missing.
        DataCorrupt: a file of the model is damaged, or not of a model that the engine can run.
    """
    match settings.engine:
        case "onnx":
            from scaar.scorer.engines.onnx import open_onnx_scorer

            async with open_onnx_scorer(settings) as scorer:
                yield scorer
        case _:
            assert_never(settings.engine)
