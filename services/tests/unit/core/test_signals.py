"""Signals of a drafted sentence."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.evidence import DraftContext, Evidence
from scaar.core.evidence.sentence_counts import SentenceCounts
from scaar.core.signals import SIGNALS, evidence_of_signals, signals_of
from scaar.core.text.entities import Statement
from scaar.core.text.words import split_tokens, split_words
from scaar.core.types import (
    AnswerRequest,
    EvidenceKind,
    LearnedTrigger,
    PolicyOverrides,
    PolicyRequest,
    SentenceJudged,
    Token,
)

from .scripted import (
    BORN_IN_LONDON,
    BORN_IN_PARIS,
    QUESTION,
    SO_LONDON,
    UNSURE_OF_PARIS,
    Script,
    answer_in,
    asking,
    model,
    only,
    parts,
)

PIECES = (" The", " film", " Har", "bour", " was", " by", " Ada", ".")
VALUES = (2, 3, 6, 7)
TEXT = "".join(PIECES)
OF_CORPUS_COUNTS = {"entity_count_min": 5.0, "entities_together_min": 2.0}
OF_NO_ENGINE = {"sentence", "words", "passages_read"}

numbers = st.tuples(*[st.floats(0.0, 12.0)] * len(PIECES))


def evidence(
    surprisals: tuple[float | None, ...],
    entropies: tuple[float | None, ...] = (None,) * len(PIECES),
    contributions: tuple[float, ...] | None = None,
) -> Evidence:
    tokens, end = list[Token](), 0
    for piece, surprisal, entropy in zip(PIECES, surprisals, entropies, strict=True):
        logprob = None if surprisal is None else -surprisal
        tokens.append(Token(0, piece, end, end := end + len(piece), logprob, entropy))
    context = DraftContext("Who?", TEXT, 2, passages_read=True)
    return Evidence(split_words(TEXT), tuple(tokens), contributions, context=context)


@given(surprisals=numbers, entropies=numbers)
def test_signals_are_maxima_means_and_sums_over_tokens(
    surprisals: tuple[float, ...], entropies: tuple[float, ...]
) -> None:
    found = signals_of(evidence(surprisals, entropies))
    groups = {
        "": surprisals,
        "value_": [surprisals[at] for at in VALUES],
        "other_": [each for at, each in enumerate(surprisals) if at not in VALUES],
    }
    expected = {"sentence": 2.0, "words": 6.0, "passages_read": 1.0}
    for group, each in groups.items():
        expected[f"{group}surprisal_max"] = max(each)
        expected[f"{group}surprisal_mean"] = sum(each) / len(each)
        expected[f"{group}surprisal_sum"] = sum(each)
    expected["entropy_max"] = max(entropies)
    expected["entropy_mean"] = sum(entropies) / len(entropies)
    assert found == pytest.approx(expected)


@given(surprisals=numbers, shares=st.tuples(*[st.floats(0.01, 1.0)] * 6))
def test_the_weighted_surprisal_weighs_tokens_by_the_contribution_of_their_word(
    surprisals: tuple[float, ...], shares: tuple[float, ...]
) -> None:
    weights = [shares[word] for word in (0, 1, 2, 2, 3, 4, 5, 5)]
    expected = sum(map(math.prod, zip(weights, surprisals, strict=True))) / sum(weights)
    found = signals_of(evidence(surprisals, contributions=shares))
    assert found["weighted_surprisal"] == pytest.approx(expected)


def test_without_any_contribution_the_weighted_surprisal_is_the_mean() -> None:
    found = signals_of(evidence((1.0,) * 7 + (9.0,), contributions=(0.0,) * 6))
    assert found["weighted_surprisal"] == found["surprisal_mean"] == 2.0


def test_a_missing_log_probability_leaves_out_the_signals_of_surprisals() -> None:
    found = signals_of(evidence((None, *(1.0,) * 7), (2.0,) * 8, (0.5,) * 6))
    assert found.keys() == {"entropy_max", "entropy_mean", *OF_NO_ENGINE}


def test_a_missing_entropy_leaves_out_the_signals_of_entropies() -> None:
    found = signals_of(evidence((1.0,) * 8, (None, *(1.0,) * 7)))
    assert found.keys() == {name for name in SIGNALS if "surprisal_" in name} | OF_NO_ENGINE


def test_signals_of_a_draft_judged_by_token_are_those_of_its_words() -> None:
    by_word = evidence((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0))
    by_token = replace(by_word, words=split_tokens(TEXT, by_word.tokens))
    assert signals_of(by_token) == signals_of(by_word)


def test_signals_need_the_evidence_that_they_are_computed_from() -> None:
    everything = evidence((1.0,) * 8, (2.0,) * 8, (0.5,) * 6)
    statement = Statement(("Ada", "sang", "1927."), (0, 1), ((2, 3),))
    counted = replace(everything, corpus_counts=SentenceCounts(statement, (7, 5), (2,)))
    assert signals_of(counted).keys() == SIGNALS.keys()
    assert signals_of(everything).keys() == SIGNALS.keys() - OF_CORPUS_COUNTS.keys()
    assert OF_CORPUS_COUNTS.items() <= signals_of(counted).items()
    assert evidence_of_signals(OF_CORPUS_COUNTS) == {EvidenceKind.CORPUS_COUNTS}
    assert evidence_of_signals(OF_NO_ENGINE) == frozenset()
    assert evidence_of_signals(["value_surprisal_max"]) == {EvidenceKind.PROBABILITIES}
    assert evidence_of_signals(["entropy_max", "weighted_surprisal"]) == {
        EvidenceKind.ENTROPY,
        EvidenceKind.PROBABILITIES,
        EvidenceKind.CONTRIBUTIONS,
    }


async def test_an_answer_reports_the_signals_of_every_judged_draft() -> None:
    events = await parts(UNSURE_OF_PARIS).events(asking("scaar"))
    first, *_ = only(SentenceJudged, events)
    assert first.signals["surprisal_max"] == first.signals["value_surprisal_max"] == 2.0
    assert first.signals["surprisal_sum"] == pytest.approx(2.04)
    assert first.signals["weighted_surprisal"] > 0
    assert {name: first.signals[name] for name in OF_NO_ENGINE} == {
        "sentence": 0.0,
        "words": 5.0,
        "passages_read": 0.0,
    }
    assert "entropy_max" not in first.signals


async def test_passages_are_read_after_a_retrieval() -> None:
    events = await parts(answering_twice()).events(asking("flare"))
    judged = only(SentenceJudged, events)
    assert [(each.signals["sentence"], each.signals["passages_read"]) for each in judged] == [
        (0.0, 0.0),
        (1.0, 1.0),
    ]


async def test_a_policy_that_learned_its_trigger_retrieves_by_the_signals() -> None:
    learned = LearnedTrigger(("surprisal_max",), (1.0,), (1.0,), (5.0,), 0.0, "wrong")
    policy = PolicyRequest("flare", PolicyOverrides(trigger="learned"), learned=learned)
    events = await parts(UNSURE_OF_PARIS).events(AnswerRequest(QUESTION, policy))
    (judged,) = only(SentenceJudged, events)
    assert judged.score == pytest.approx(1 / (1 + math.exp(-5.0)))
    assert judged.retrieving
    assert answer_in(events).provenance.policy.learned == learned


def answering_twice() -> Script:
    died = " She died in Rome."
    return model(
        {"": BORN_IN_PARIS + died, BORN_IN_LONDON: died + SO_LONDON},
        {"": BORN_IN_LONDON + died},
        ["Paris."],
    )
