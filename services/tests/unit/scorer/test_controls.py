"""The controls over scripted contributions, and the rarity of words by wordfreq's own list."""

import sys
from collections import Counter
from math import log10

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.controls import Control
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.loop.contribution import normalised
from scaar.core.types import ScoreRequest
from scaar.scorer.controls.constant import ConstantScorer
from scaar.scorer.controls.factory import open_control
from scaar.scorer.controls.idf import open_idf_scorer, rarity
from scaar.scorer.controls.permuted import permuted
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.testing.fakes import ScriptedScorer

WORDS = st.lists(st.text("abc.", min_size=1, max_size=3), min_size=1, max_size=40)
SHARES = st.floats(0, 1)
SENTENCE = ScoreRequest("Who?", ("the", "film", "Olstead."))


@st.composite
def scored(draw: st.DrawFn) -> tuple[ScoreRequest, tuple[float, ...]]:
    """Draw a sentence and a contribution for each of its words."""
    words = draw(WORDS)
    found = draw(st.lists(SHARES, min_size=len(words), max_size=len(words)))
    return ScoreRequest(draw(st.text("abc?", min_size=1, max_size=5)), tuple(words)), tuple(found)


@given(scored())
def test_permuted_contributions_are_the_same_values_for_other_words(
    given_: tuple[ScoreRequest, tuple[float, ...]],
) -> None:
    request, contributions = given_
    found = permuted(request, contributions)
    assert Counter(found) == Counter(contributions)
    assert (found == contributions) == (len(set(contributions)) == 1)
    assert found == permuted(request, contributions)


@given(scored(), st.data())
def test_the_permutation_depends_on_question_and_words_not_on_values(
    given_: tuple[ScoreRequest, tuple[float, ...]], data: st.DataObject
) -> None:
    request, contributions = given_
    places = tuple(float(at) for at in range(len(contributions)))
    moved = permuted(request, places)
    assert permuted(request, contributions) == tuple(contributions[int(at)] for at in moved)
    if len(places) > 1:
        assert all(one != other for one, other in zip(moved, places, strict=True))


def test_the_permutation_depends_on_question_and_words() -> None:
    contributions = tuple(float(at) for at in range(12))
    words = tuple("abcdefghijkl")
    requested = [ScoreRequest("Who?", words), ScoreRequest("Whom?", words)]
    requested.append(ScoreRequest("Who?", (*words[1:], words[0])))
    assert len({permuted(request, contributions) for request in requested}) == 3


@given(scored())
async def test_constant_contributions_are_the_mean_for_every_word(
    given_: tuple[ScoreRequest, tuple[float, ...]],
) -> None:
    request, contributions = given_
    (found,) = await ConstantScorer(ScriptedScorer(lambda _: contributions)).score_contributions(
        (request,)
    )
    assert len(set(found)) == 1
    assert found[0] == pytest.approx(sum(contributions) / len(contributions))
    assert set(normalised(found)) == {1.0}


async def test_the_rarer_a_word_is_the_more_it_counts() -> None:
    async with open_idf_scorer() as scorer:
        (found,) = await scorer.score_contributions((SENTENCE,))
    the, film, olstead = found
    assert 0 < the < film < olstead <= 1


@given(st.floats(1e-9, 1), st.text("abc", min_size=1))
def test_rarity_is_the_logarithm_of_the_frequency_between_certain_and_one_in_a_billion(
    frequency: float, word: str
) -> None:
    assert rarity(word, lambda _: frequency) == pytest.approx(log10(frequency) / -9)
    assert rarity(word, lambda _: 0.0) == 1.0
    assert rarity("—", lambda _: frequency) == 0.0


async def test_a_word_keeps_its_rarity_whatever_its_case_and_punctuation() -> None:
    async with open_idf_scorer() as scorer:
        (found,) = await scorer.score_contributions(
            (ScoreRequest("Who?", ("film", "Film", "film.", "(film)")),)
        )
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("control", "name"),
    [
        (Control.PERMUTED, "scripted+permuted"),
        (Control.CONSTANT, "scripted+constant"),
        (Control.IDF, "wordfreq+idf"),
    ],
)
async def test_a_control_describes_itself(control: Control, name: str) -> None:
    async with open_control(control, ScriptedScorer({})) as scorer:
        assert (await scorer.describe_model()).model == name


async def test_idf_needs_no_model() -> None:
    async with open_scorer(ScorerSettings(control="idf")) as scorer:
        assert (await scorer.describe_model()).engine == "wordfreq"
        with pytest.raises(InvalidRequest, match="sentences\\[0\\].question"):
            await scorer.score_contributions((ScoreRequest("", ("film",)),))


async def test_idf_without_its_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(CapabilityMissing, match=r"needs wordfreq: install scaar\[idf\]"):
        await open_idf_scorer().__aenter__()
