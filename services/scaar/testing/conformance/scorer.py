"""Conformance suite of contribution scorers.

An implementer derives :class:`ScorerConformance` in a test module, provides the fixture ``scorer``,
an open scorer, and runs pytest (with ``asyncio_mode = "auto"``)::

    class TestMyScorer(ScorerConformance):
        @pytest.fixture
        async def scorer(self):
            async with open_my_scorer() as scorer:
                yield scorer

Each inherited test is a guarantee that callers rely on. The scorer needs a model that is sensitive
to the order of words, or ``reads_order = False``, and capacity for 30 concurrent calls.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScoreRequest

_SENTENCES = (
    ScoreRequest("Where was Ada born?", ("Ada", "was", "born", "in", "London.")),
    ScoreRequest("Where was Ada born?", ("London,", "London.")),
    ScoreRequest("Wer schrieb »Faust«?", ("Göthe", "schrieb", "es", "🙂")),
    ScoreRequest("Who?", ("Bea.",)),
    ScoreRequest("What did " + "the very old " * 30 + "man say?", ("He", "said", "nothing.")),
    ScoreRequest("[SEP] <s> </s> [MASK]?", ("[CLS]", "and", "<pad>")),
)
_GOOD = _SENTENCES[0]
_WRONG = (
    (ScoreRequest("", ("in",)), "question"),
    (ScoreRequest(" \n", ("in",)), "question"),
    (ScoreRequest("Where?", ()), "words"),
    (ScoreRequest("Where?", ("in",) * 257), "words"),
    (ScoreRequest("Where?", ("in", "")), "words"),
    (ScoreRequest("Where?", ("in", "New York")), "words"),
    (ScoreRequest("Where?", ("in ",)), "words"),
)


class ScorerConformance:
    """Derive from this class; provide the fixture ``scorer``."""

    tolerance: ClassVar[float] = 1e-6
    """How far a contribution may be from itself. Padding and the size of a batch change the order
    of sums, not what is summed: of a model in 32 bits 1e-6 can be asked. Half precision needs
    more."""

    reads_order: ClassVar[bool] = True
    """Whether the contribution of a repeated word depends on its position. It does for a model, but
    not for a control that uses only the word or the sentence."""

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

    async def test_a_batch_has_the_scores_of_its_sentences_in_order(
        self, scorer: ContributionScorer
    ) -> None:
        alone = await self._alone(scorer)
        self._assert_same(await scorer.score_contributions(_SENTENCES), alone)
        backwards = await scorer.score_contributions(_SENTENCES[::-1])
        self._assert_same(backwards, alone[::-1])

    async def test_a_sentence_has_the_same_scores_within_and_across_calls(
        self, scorer: ContributionScorer
    ) -> None:
        one, other = await scorer.score_contributions((_GOOD, _GOOD))
        self._assert_same([one], [other])
        self._assert_same(await scorer.score_contributions((_GOOD,)), [one])

    async def test_concurrent_calls_have_the_scores_of_separate_ones(
        self, scorer: ContributionScorer
    ) -> None:
        alone = await self._alone(scorer)
        calls = [scorer.score_contributions((each,)) for each in _SENTENCES * 4]
        calls += [scorer.score_contributions(_SENTENCES) for _ in range(2)]
        found = await asyncio.gather(*calls)
        self._assert_same([row for rows in found for row in rows], alone * 6)

    async def test_a_repeated_word_is_removed_by_its_position(
        self, scorer: ContributionScorer
    ) -> None:
        apart = ScoreRequest("Who saw Ada?", ("Ada", "saw", "Ada"))
        beside = ScoreRequest("Who saw Ada?", ("Ada", "Ada"))
        (first, _, last), (one, other) = await scorer.score_contributions((apart, beside))
        # "saw Ada" and "Ada saw" are different texts; "Ada" and "Ada" are not.
        assert (abs(first - last) > self.tolerance) == self.reads_order
        assert one == pytest.approx(other, abs=self.tolerance)

    async def test_no_sentences_give_none(self, scorer: ContributionScorer) -> None:
        assert await scorer.score_contributions(()) == ()

    @pytest.mark.parametrize(("wrong", "field"), _WRONG)
    async def test_a_wrong_field_is_refused_by_its_name(
        self, scorer: ContributionScorer, wrong: ScoreRequest, field: str
    ) -> None:
        with pytest.raises(InvalidRequest) as caught:
            await scorer.score_contributions((_GOOD, wrong))
        assert [each.field for each in caught.value.violations] == [f"sentences[1].{field}"]

    async def test_every_wrong_field_is_named_together(self, scorer: ContributionScorer) -> None:
        with pytest.raises(InvalidRequest) as caught:
            await scorer.score_contributions(
                (ScoreRequest("", ()), _GOOD, ScoreRequest("", ("a",)))
            )
        fields = [each.field for each in caught.value.violations]
        assert fields == ["sentences[0].question", "sentences[0].words", "sentences[2].question"]

    async def test_the_words_of_a_call_are_bounded(self, scorer: ContributionScorer) -> None:
        with pytest.raises(InvalidRequest, match="4096") as caught:
            await scorer.score_contributions((ScoreRequest("Where?", ("in",) * 256),) * 17)
        assert [each.field for each in caught.value.violations] == ["sentences"]

    async def test_every_word_of_a_sentence_too_long_for_the_model_has_a_contribution(
        self, scorer: ContributionScorer
    ) -> None:
        # No more characters than a sentence may have, and no model reads them with 512 tokens.
        long = ScoreRequest("Who did what, and when?", ("incomprehensibilities,",) * 256)
        found, good = await scorer.score_contributions((long, _GOOD))
        assert len(found) == 256
        assert all(0 <= score <= 1 for score in found)
        self._assert_same([good], await scorer.score_contributions((_GOOD,)))

    async def test_a_word_too_long_for_the_model_is_refused(
        self, scorer: ContributionScorer
    ) -> None:
        most = (await scorer.describe_model()).max_pair_tokens
        too_long = ScoreRequest("Who?", ("a," * most, "did."))
        with pytest.raises(InvalidRequest) as caught:
            await scorer.score_contributions((too_long, _GOOD))
        (wrong,) = caught.value.violations
        # A server names the word that is over the contract's limit, before it parses the request.
        assert wrong.field in ("sentences[0].words", "sentences[0].words[0]")

    async def test_a_question_too_long_for_the_model_is_shortened(
        self, scorer: ContributionScorer
    ) -> None:
        most = (await scorer.describe_model()).max_pair_tokens
        # A question may have 8,000 characters, which no model with more tokens has to shorten.
        long = ScoreRequest("a " * min(most, 3_900) + "Who?", ("Ada", "did."))
        (scores,) = await scorer.score_contributions((long,))
        assert len(scores) == 2
        assert all(0 <= score <= 1 for score in scores)

    async def test_refusals_leave_the_scorer_working(self, scorer: ContributionScorer) -> None:
        alone = await self._alone(scorer)
        calls = [scorer.score_contributions((_GOOD, wrong)) for wrong, _ in _WRONG]
        calls.append(scorer.score_contributions(_SENTENCES))
        *refused, found = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(each, InvalidRequest) for each in refused)
        assert isinstance(found, tuple)
        self._assert_same(found, alone)

    @pytest.mark.parametrize("turns", [0, 1, 3, 10, 30, 100])
    async def test_a_cancelled_call_leaves_the_scorer_working(
        self, scorer: ContributionScorer, turns: int
    ) -> None:
        call = asyncio.create_task(_score(scorer, _SENTENCES))
        other = asyncio.create_task(_score(scorer, _SENTENCES[1:3]))
        for _ in range(turns):
            await asyncio.sleep(0)
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        alone = await self._alone(scorer)
        self._assert_same(await other, alone[1:3])

    async def test_the_description_names_the_model(self, scorer: ContributionScorer) -> None:
        model = await scorer.describe_model()
        assert model.model
        assert model.revision
        assert model.engine
        assert model.max_pair_tokens > 0
        assert model == await scorer.describe_model()

    async def _alone(self, scorer: ContributionScorer) -> list[tuple[float, ...]]:
        return [(await scorer.score_contributions((each,)))[0] for each in _SENTENCES]

    def _assert_same(
        self, found: Sequence[Sequence[float]], expected: Sequence[Sequence[float]]
    ) -> None:
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert one == pytest.approx(other, abs=self.tolerance)


async def _score(
    scorer: ContributionScorer, requests: Sequence[ScoreRequest]
) -> tuple[tuple[float, ...], ...]:
    return await scorer.score_contributions(requests)
