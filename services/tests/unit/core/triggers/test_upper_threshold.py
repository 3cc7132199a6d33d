"""The triggers that compare entropies and their trends with thresholds, on vectors by hand."""

import math
from collections.abc import Sequence

import pytest

from scaar.core.errors import ScaarError
from scaar.core.evidence import Evidence
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.text.word_classes import WordClass, word_classes
from scaar.core.text.words import split_words
from scaar.core.triggers import TRIGGERS, Judgement
from scaar.core.types import Attention, EvidenceKind, PolicyOverrides, PolicyRequest, Token
from scaar.testing.fakes import SCRIPTED_MODEL

TEXT = " The director was Murnau."
PIECES = (" The", " director", " was", " Mur", "nau.")
ENTROPIES = (0.1, 2.0, 0.4, 3.0, 1.0)
ROWS = (
    (0.5, 0.5),
    (0.25, 0.5, 0.25),
    (0.2, 0.2, 0.4, 0.2),
    (0.1, 0.1, 0.4, 0.3, 0.1),
    (0.1, 0.1, 0.1, 0.1, 0.5, 0.1),
)
"""The prompt is one token."""


def tokens_of(
    entropies: Sequence[float | None], logprobs: Sequence[float | None] = (-0.1,) * 5
) -> tuple[Token, ...]:
    tokens, end = [], 0
    for piece, entropy, logprob in zip(PIECES, entropies, logprobs, strict=True):
        tokens.append(Token(0, piece, end, end + len(piece), logprob, entropy))
        end += len(piece)
    return tuple(tokens)


def attention() -> Attention:
    prompt = Token(0, "Q", 0, 1)
    text = (Token(0, each.text, each.start + 1, each.end + 1) for each in tokens_of(ENTROPIES))
    return Attention((prompt, *text), 1, ROWS)


def own_attention() -> Attention:
    return Attention(tokens_of(ENTROPIES), 0, received=(0.5, 0.4, 0.3, 0.5, 0.1))


def judged(
    trigger: str,
    *,
    theta: float,
    entropies: Sequence[float | None] = ENTROPIES,
    logprobs: Sequence[float | None] = (-0.1,) * 5,
    **settings: bool,
) -> Judgement:
    overrides = PolicyOverrides(trigger=trigger, theta=theta, **settings)
    policy = effective_policy(PolicyRequest("scaar", overrides), SCRIPTED_MODEL)
    words = split_words(TEXT)
    evidence = Evidence(
        words=words,
        tokens=tokens_of(entropies, logprobs),
        attention=attention(),
        word_classes=word_classes([word.text for word in words]),
        own_attention=own_attention(),
    )
    return TRIGGERS[trigger].judge(evidence, policy)


def test_the_words_have_the_classes_that_the_vectors_assume() -> None:
    classes = word_classes(TEXT.split())
    stop, content = WordClass.STOP, WordClass.CONTENT
    assert classes == (stop, content, stop, content)


def test_rind_is_attention_times_entropy_except_for_stop_words() -> None:
    # Received, by the largest later row: The max(.5, .2, .1, .1) = .5; director max(.4, .4, .1);
    # was max(.3, .1); Mur .5, nau. 0. Over their mean (1.7 / 4): 1.1765, .9412, .7059, 1.1765.
    # Entropies of words: .1, 2, .4, (3 + 1) / 2.
    found = judged("rind", theta=2.0)
    assert [word.attention for word in found.words] == pytest.approx(
        [1.1765, 0.9412, 0.7059, 1.1765], abs=5e-5
    )
    assert [word.entropy for word in found.words] == [0.1, 2.0, 0.4, 2.0]
    assert [word.value for word in found.words] == pytest.approx(
        [0.0, 1.8824, 0.0, 2.3529], abs=5e-5
    )
    assert found.trigger == 3
    assert found.score == pytest.approx(2.3529, abs=5e-5)
    assert judged("rind", theta=1.8).trigger == 1
    assert judged("rind", theta=2.4).trigger is None


def test_with_the_stop_word_switch_off_rind_may_trigger_on_any_word() -> None:
    sure = (9.0, 0.0, 0.0, 0.0, 0.0)
    assert judged("rind", theta=1.0, entropies=sure).trigger is None
    every = judged("rind", theta=1.0, entropies=sure, spare_stop_words=False)
    assert every.trigger == 0


def test_the_authors_rind_goes_by_what_the_draft_receives_and_by_content_words_alone() -> None:
    # The .5, director .4, was .3, Murnau .5 + .1: sum 1.8.
    found = judged("rind_reference", theta=1.0)
    assert [word.attention for word in found.words] == pytest.approx(
        [4 * x / 1.8 for x in (0.5, 0.4, 0.3, 0.6)]
    )
    assert [word.uncertain for word in found.words] == [False, True, False, True]


def test_an_entropy_that_is_missing_is_above_any_threshold() -> None:
    found = judged("rind", theta=100.0, entropies=(0.1, None, 0.4, 3.0, 1.0))
    assert (found.trigger, found.score) == (1, None)
    spared = judged("rind", theta=100.0, entropies=(None, 2.0, 0.4, 3.0, 1.0))
    assert spared.trigger is None


def test_etc_uses_the_largest_entropy_of_a_word() -> None:
    # Two words that are no stop words have no second difference, so none may trigger.
    found = judged("etc", theta=0.01)
    assert [word.entropy for word in found.words] == [0.1, 2.0, 0.4, 3.0]
    assert (found.trigger, found.score) == (None, None)


def test_the_mean_entropy_is_of_the_whole_sentence() -> None:
    found = judged("mean_entropy", theta=1.2)
    assert found.score == pytest.approx(1.3)
    assert found.trigger == 1, "the first of the words of the largest entropy"
    assert not any(word.uncertain for word in found.words), "no word is uncertain by itself"
    assert judged("mean_entropy", theta=1.3).trigger is None
    unknown = judged("mean_entropy", theta=100.0, entropies=(0.1, 2.0, None, 3.0, 1.0))
    assert (unknown.trigger, unknown.score) == (2, None)


@pytest.mark.parametrize("missing", [None, math.nan, math.inf])
@pytest.mark.parametrize("trigger", ["rind", "rind_reference", "mean_entropy"])
def test_an_invalid_entropy_counts_as_missing(trigger: str, missing: float | None) -> None:
    found = judged(trigger, theta=100.0, entropies=(0.1, missing, 0.4, 3.0, 1.0))
    assert (found.trigger, found.score) == (1, None)


def test_perplexity_is_of_the_whole_sentence() -> None:
    # exp((.1 + .2 + .3 + 1 + .4) / 5) = exp(.4).
    logprobs = (-0.1, -0.2, -0.3, -1.0, -0.4)
    found = judged("perplexity", theta=1.4, logprobs=logprobs)
    assert found.score == pytest.approx(1.4918, abs=5e-5)
    assert found.trigger == 3
    assert judged("perplexity", theta=1.5, logprobs=logprobs).trigger is None
    missing = (-0.1, None, -0.3, -1.0, -0.4)
    assert judged("perplexity", theta=1e6, logprobs=missing).trigger == 1


def test_attention_weighs_as_contributions_do_in_surprisal() -> None:
    # Shares 1.1765, .9412, .7059, 1.1765: thresholds .8 ** (1 / share).
    found = judged("attention", theta=0.8)
    assert [word.threshold for word in found.words] == pytest.approx(
        [0.8 ** (1.7 / 2.0), 0.8 ** (1.7 / 1.6), 0.8 ** (1.7 / 1.2), 0.8 ** (1.7 / 2.0)]
    )
    assert [word.attention for word in found.words] == pytest.approx(
        [1.1765, 0.9412, 0.7059, 1.1765], abs=5e-5
    )


ATTENDING = [
    each
    for each in TRIGGERS
    if TRIGGERS[each].needs & {EvidenceKind.ATTENTION, EvidenceKind.OWN_ATTENTION}
]


@pytest.mark.parametrize("trigger", ATTENDING)
def test_a_trigger_by_attention_is_not_judged_without_it(trigger: str) -> None:
    policy = effective_policy(
        PolicyRequest("scaar", PolicyOverrides(trigger=trigger)), SCRIPTED_MODEL
    )
    words = split_words(TEXT)
    classes = word_classes([word.text for word in words])
    with pytest.raises(ScaarError, match="attention"):
        TRIGGERS[trigger].judge(Evidence(words, tokens_of(ENTROPIES), word_classes=classes), policy)


def test_max_entropy_compares_the_largest_entropy_of_a_words_tokens() -> None:
    words = split_words("a bc d")
    spans = ((0, 1, 0.2), (2, 3, 0.4), (3, 4, 1.6), (5, 6, 1.4))
    tokens = tuple(Token(0, "", start, end, None, entropy) for start, end, entropy in spans)
    request = PolicyRequest("flare", PolicyOverrides(trigger="max_entropy", theta=1.5))
    policy = effective_policy(request, SCRIPTED_MODEL)
    found = TRIGGERS["max_entropy"].judge(Evidence(words, tokens), policy)
    assert [word.value for word in found.words] == [0.2, 1.6, 1.4]
    assert [word.uncertain for word in found.words] == [False, True, False]
    assert (found.trigger, found.score) == (1, 1.6)
