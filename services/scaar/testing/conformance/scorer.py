"""What every contribution scorer must keep to."""

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScoreRequest

_SENTENCES = (
    ScoreRequest("Where was Ada born?", ("Ada", "was", "born", "in", "London.")),
    ScoreRequest("Where was Ada born?", ("London,", "London.")),
    ScoreRequest("Wer schrieb »Faust«?", ("Göthe", "schrieb", "es", "🙂")),
)


class ScorerConformance:
    """Derive and give the fixture ``scorer``."""

    @pytest.fixture
    def scorer(self) -> ContributionScorer:
        """The scorer under test."""
        raise NotImplementedError

    async def test_every_word_has_a_contribution_between_0_and_1(
        self, scorer: ContributionScorer
    ) -> None:
        scores = await scorer.score_contributions(_SENTENCES)
        assert [len(each) for each in scores] == [len(each.words) for each in _SENTENCES]
        assert all(0 <= score <= 1 for each in scores for score in each)

    async def test_a_batch_gives_what_its_sentences_give_alone(
        self, scorer: ContributionScorer
    ) -> None:
        together = await scorer.score_contributions(_SENTENCES)
        for sentence, scores in zip(_SENTENCES, together, strict=True):
            (alone,) = await scorer.score_contributions([sentence])
            assert scores == pytest.approx(alone, abs=1e-5)

    async def test_no_sentences_give_none(self, scorer: ContributionScorer) -> None:
        assert await scorer.score_contributions([]) == ()

    async def test_a_word_with_white_space_is_refused(self, scorer: ContributionScorer) -> None:
        with pytest.raises(InvalidRequest) as caught:
            await scorer.score_contributions([ScoreRequest("Where?", ("in", "New York"))])
        assert [each.field for each in caught.value.violations] == ["sentences[0].words"]

    async def test_the_description_names_the_model(self, scorer: ContributionScorer) -> None:
        model = await scorer.describe_model()
        assert model.model
        assert model.revision
        assert model.engine
        assert model.max_pair_tokens > 0
        assert model == await scorer.describe_model()
