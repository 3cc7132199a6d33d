"""Both entropy trends, by hand and compared with another implementation on random sentences."""

from random import Random

import numpy as np
import pytest

from scaar.core.evidence import Evidence
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.text.word_classes import WordClass
from scaar.core.text.words import split_words
from scaar.core.triggers import TRIGGERS, Judgement, etc, etc_reference
from scaar.core.types import (
    Attention,
    EffectivePolicy,
    PolicyOverrides,
    PolicyRequest,
    Token,
)
from scaar.testing.fakes import SCRIPTED_MODEL

PROMPT_TOKENS = 3


def test_the_printed_trend_by_hand() -> None:
    # d2 = -3, 4. E = -3: w = |0 + 3| / (|-3 + 3| + |0 + 3|) = 1, M = -3.
    # E = .5: w = |-3 - .5| / (|4 - .5| + |-3 - .5|) = .5, M = .5 * 4 + .5 * -3 = .5.
    assert etc.trend((0.0, 2.0, 1.0, 4.0)) == (None, None, pytest.approx(-3.0), pytest.approx(0.5))
    assert etc.trend((1.0, 1.0, 1.0)) == (None, None, 0.0), "0/0: both differences are 0"
    assert etc.trend((0.0, 0.0, 2.0, 6.0)) == (None, None, 2.0, 2.0), "0/0: both are 2"
    assert etc.trend((1.0,)) == (None,)


def test_the_authors_trend_by_hand() -> None:
    # As above, with a = .9 + .1 w: 1, then .95: M = .95 * 4 + .05 * -3 = 3.65.
    found = etc_reference.trend((0.0, 2.0, 1.0, 4.0))
    assert found == (None, None, pytest.approx(-3.0), pytest.approx(3.65))


def test_a_difference_of_0_counts_as_missing_in_the_authors_trend() -> None:
    # d1 = 2, 0, 1; the 0 is passed over: 0 - 2 = -2, then 1 - 2 = -1.
    found = etc_reference.trend((1.0, 3.0, 3.0, 4.0))
    # E = -2: w = 1, M = -2. E = -1.5: w = .5 / (.5 + .5) = .5, a = .95, M = -.95 - .1 = -1.05.
    assert found == (None, None, pytest.approx(-2.0), pytest.approx(-1.05))
    # d1 = 1, 1: d2 = 0 is none, and neither counts in the mean nor as the one before.
    assert etc_reference.trend((0.0, 1.0, 2.0)) == (None, None, None)


def test_a_sharp_fall_triggers_as_printed_and_not_by_the_authors_code() -> None:
    falling = (0.0, 3.0, 0.0)
    assert _judge("etc", falling, theta=1.0).trigger == 2
    assert _judge("etc_reference", falling, theta=1.0).trigger is None


def test_an_unknown_entropy_triggers_under_either() -> None:
    for trigger in ("etc", "etc_reference"):
        found = _judge(trigger, (0.0, None, 0.0), theta=100.0)
        assert (found.trigger, found.score) == (1, None)


def _judge(trigger: str, entropies: tuple[float | None, ...], theta: float) -> Judgement:
    """The judgement of content words of a token each, which pay the same to all before them."""
    text = "".join(f" w{at}" for at in range(len(entropies)))
    tokens = tuple(
        Token(0, f" w{at}", 3 * at, 3 * at + 3, -0.1, entropy)
        for at, entropy in enumerate(entropies)
    )
    rows = tuple((1 / (at + 2),) * (at + 2) for at in range(len(tokens)))
    moved = (Token(0, each.text, each.start + 1, each.end + 1) for each in tokens)
    evidence = Evidence(
        words=split_words(text),
        tokens=tokens,
        attention=Attention((Token(0, "Q", 0, 1), *moved), 1, rows),
        word_classes=(WordClass.CONTENT,) * len(tokens),
    )
    return TRIGGERS[trigger].judge(evidence, _policy(trigger, theta))


@pytest.mark.parametrize("trigger", ["etc", "etc_reference"])
def test_random_sentences_are_judged_as_by_another_implementation(trigger: str) -> None:
    chance = Random(7)
    for _ in range(300):
        _check_random_sentence(trigger, chance)


def _check_random_sentence(trigger: str, chance: Random) -> None:
    sizes = [chance.randint(1, 3) for _ in range(chance.randint(1, 14))]
    text, tokens, groups = "", list[Token](), list[list[int]]()
    for size in sizes:
        groups.append([])
        for piece in range(size):
            token = " a" if piece == 0 else "b"
            # Rounded, so that differences of 0 occur.
            entropy = round(chance.expovariate(0.7), chance.choice((0, 6)))
            groups[-1].append(len(tokens))
            tokens.append(Token(0, token, len(text), len(text) + len(token), -0.5, entropy))
            text += token
    rows = [_row(chance, PROMPT_TOKENS + at + 1) for at in range(len(tokens))]
    classes = tuple(chance.choice(list(WordClass)) for _ in sizes)
    shift = PROMPT_TOKENS
    attention = Attention(
        (
            *(Token(0, "Q", at, at + 1) for at in range(shift)),
            *(Token(0, each.text, each.start + shift, each.end + shift) for each in tokens),
        ),
        shift,
        tuple(rows),
    )
    evidence = Evidence(split_words(text), tuple(tokens), None, attention, classes)
    theta = 0.8
    found = TRIGGERS[trigger].judge(evidence, _policy(trigger, theta))
    entropies = np.array([max(tokens[at].entropy or 0.0 for at in each) for each in groups])
    other = _printed if trigger == "etc" else _coded
    values = other(entropies, list(classes), groups, rows)
    assert [word.value for word in found.words] == pytest.approx(values)
    over = np.flatnonzero(np.array(values) > theta)
    assert found.trigger == (int(over[0]) if over.size else None)
    assert [word.uncertain for word in found.words] == [value > theta for value in values]


def _printed(
    entropies: np.ndarray, classes: list[WordClass], groups: object, rows: object
) -> list[float]:
    """|M_t| in vectors: expectations as cumulative means, weights of all t together."""
    kept = np.array([each is not WordClass.STOP for each in classes])
    values = np.zeros(len(entropies))
    second = np.convolve(entropies[kept], [1, -2, 1], "valid") if kept.sum() >= 3 else np.zeros(0)
    if second.size:
        means = np.cumsum(second) / np.arange(1, second.size + 1)
        before = np.concatenate(([0.0], second[:-1]))
        own, other = np.abs(second - means), np.abs(before - means)
        total = own + other
        weight = np.divide(other, total, out=np.zeros_like(total), where=total > 0)
        values[np.flatnonzero(kept)[2:]] = np.abs(weight * second + (1 - weight) * before)
    return values.tolist()


def _coded(
    entropies: np.ndarray,
    classes: list[WordClass],
    groups: list[list[int]],
    rows: list[tuple[float, ...]],
) -> list[float]:
    """The authors' steps over arrays of all words, with 0 for a difference that is missing."""
    count = len(entropies)
    content = [each is WordClass.CONTENT for each in classes]
    first, second, smooth = np.zeros(count), np.zeros(count), np.zeros(count)
    for at in range(count):
        earlier = [each for each in range(at) if content[each]]
        if content[at] and earlier:
            first[at] = entropies[at] - entropies[earlier[-1]]
    for at in range(count):
        earlier = [each for each in range(at) if first[each] != 0]
        if content[at] and earlier:
            second[at] = first[at] - first[earlier[-1]]
    known = np.flatnonzero(second)
    for number, at in enumerate(known):
        mean = second[known[: number + 1]].mean()
        before = second[known[number - 1]] if number else 0.0
        apart = abs(second[at] - mean) + abs(before - mean)
        share = 0.9 + 0.1 * (abs(before - mean) / apart if apart else 0.0)
        smooth[at] = share * second[at] + (1 - share) * before
    tokens = len(rows)
    square = np.array(
        [[*row[PROMPT_TOKENS:], *[0.0] * (tokens + PROMPT_TOKENS - len(row))] for row in rows]
    )
    to_words = np.stack([square[:, each].sum(axis=1) for each in groups], axis=1)
    between = np.stack([to_words[each].mean(axis=0) for each in groups])
    most = between.max(axis=1)
    return list(most / most.mean() * smooth)


def _row(chance: Random, length: int) -> tuple[float, ...]:
    drawn = [chance.random() for _ in range(length)]
    return tuple(each / sum(drawn) for each in drawn)


def _policy(trigger: str, theta: float) -> EffectivePolicy:
    overrides = PolicyOverrides(trigger=trigger, theta=theta)
    return effective_policy(PolicyRequest("scaar", overrides), SCRIPTED_MODEL)
