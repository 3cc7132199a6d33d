"""Scores by reflection tokens, beside an independent computation with numpy."""

import math

import numpy as np
import pytest

from scaar.core.loop.reflection_scores import probability_of_retrieving, scores_of
from scaar.core.prompts.reflection import JUDGEMENTS, RELEVANCES, SUPPORTS, UTILITIES
from scaar.core.types import Token, TopToken

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def segment(random: np.random.Generator, texts: list[str]) -> tuple[list[Token], Array, Array]:
    """Return tokens with random log-probabilities, these, and those of the named tokens."""
    own, tables = random.normal(-1, 1, len(texts)), random.normal(-3, 2, (len(texts), 13))
    tokens = [
        Token(
            *(0, text, 0, len(text)),
            logprob=float(own[at]),
            named=tuple(
                TopToken(0, name, float(tables[at, column]))
                for column, name in enumerate(JUDGEMENTS)
            ),
        )
        for at, text in enumerate(texts)
    ]
    return tokens, own, tables


def softmax(values: Array) -> Array:
    powers: Array = np.exp(values - values.max())
    return powers / powers.sum()


@pytest.mark.parametrize("seed", range(20))
def test_the_scores_of_a_segment_are_those_of_the_paper(seed: int) -> None:
    random = np.random.default_rng(seed)
    support, utility = random.choice(SUPPORTS), random.choice(UTILITIES)
    texts = ["[Relevant]", " Ada", " was", str(support), " more", "[Fully supported]", str(utility)]
    tokens, own, tables = segment(random, texts)
    scores = scores_of(tokens)
    # The order of the named tokens is that of the columns.
    assert JUDGEMENTS[3:] == (*RELEVANCES, *SUPPORTS, *UTILITIES)
    relevance = softmax(tables[0, 3:5])[0]
    supported = softmax(tables[3, 5:8]) @ np.array([1, 0.5, 0])
    useful = softmax(tables[6, 8:13]) @ np.linspace(-1, 1, 5)
    likelihood = np.prod(np.exp(own)) ** (1 / len(texts))
    assert scores.relevance == pytest.approx(relevance)
    assert scores.support == pytest.approx(supported)
    assert scores.utility == pytest.approx(useful)
    assert scores.likelihood == pytest.approx(likelihood)
    assert scores.total == pytest.approx(likelihood + relevance + supported + 0.5 * useful)


@pytest.mark.parametrize("seed", range(5))
def test_a_segment_without_judgements_has_no_support_and_no_utility(seed: int) -> None:
    tokens, own, tables = segment(np.random.default_rng(seed), [" Ada", " was"])
    scores = scores_of(tokens)
    assert (scores.support, scores.utility) == (0.0, 0.0)
    assert scores.total == pytest.approx(np.exp(own.mean()) + softmax(tables[0, 3:5])[0])


def test_unknown_and_impossible_probabilities_count_as_none() -> None:
    named = tuple(TopToken(0, name, -math.inf) for name in JUDGEMENTS)
    scores = scores_of([Token(0, "[Fully supported]", 0, 17, None, named=named)])
    assert (scores.relevance, scores.support, scores.utility) == (0.0, 0.0, 0.0)
    assert scores.likelihood == pytest.approx(math.exp(-100))
    assert scores_of([]).total == 0.0


def test_the_probability_of_retrieving_ignores_every_other_token() -> None:
    given = {"[Retrieval]": 0.1, "[No Retrieval]": 0.3, "[Continue to Use Evidence]": 0.5}
    assert probability_of_retrieving(given) == pytest.approx(0.25)
    assert probability_of_retrieving({}) == 0.0
