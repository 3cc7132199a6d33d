"""Factory of the controls of an open scorer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import assert_never

from scaar.core.controls import Control
from scaar.core.ports import ContributionScorer


def control_is_installed(control: Control) -> bool:
    """Return whether the library of a control is installed."""
    return control is not Control.IDF or find_spec("wordfreq") is not None


@asynccontextmanager
async def open_control(
    control: Control, scorer: ContributionScorer
) -> AsyncIterator[ContributionScorer]:
    """Open the control over any scorer. ``idf`` never calls the scorer.

    Raises:
        CapabilityMissing: the library of ``idf`` is not installed.
    """
    match control:
        case Control.PERMUTED:
            from scaar.scorer.controls.permuted import PermutedScorer

            yield PermutedScorer(scorer)
        case Control.CONSTANT:
            from scaar.scorer.controls.constant import ConstantScorer

            yield ConstantScorer(scorer)
        case Control.IDF:
            from scaar.scorer.controls.idf import open_idf_scorer

            async with open_idf_scorer(preload=False) as rarities:
                yield rarities
        case _:
            assert_never(control)
