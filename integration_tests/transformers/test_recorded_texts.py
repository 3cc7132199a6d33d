"""Nothing that a model writes fails an answer with the scorer of scaar-english."""

from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import ContributionScorer
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar_english import model_folder
from tests.unit.recorded_texts.replay import (
    ODD_TEXTS,
    POLICIES,
    failures,
    of_every_kind,
    recorded_texts,
)

TEXTS = recorded_texts()


@pytest.fixture
async def scorer() -> AsyncIterator[ContributionScorer]:
    settings = ScorerSettings(engine="bi_encoder", model=model_folder(), threads=1)
    async with open_scorer(settings) as opened:
        yield opened


@pytest.mark.parametrize("policy", POLICIES)
async def test_no_text_of_any_kind_fails_an_answer(policy: str, scorer: ContributionScorer) -> None:
    assert await failures(of_every_kind(TEXTS), policy, scorer) == []


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES)
async def test_no_recorded_text_fails_an_answer(policy: str, scorer: ContributionScorer) -> None:
    assert await failures([*TEXTS, *ODD_TEXTS], policy, scorer) == []
