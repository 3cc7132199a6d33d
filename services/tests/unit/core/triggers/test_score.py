"""The score of a sentence: to one side of it theta has it retrieved for, to the other not."""

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.evidence import Evidence
from scaar.core.evidence.sentence_counts import SentenceCounts
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.text.entities import Statement
from scaar.core.text.new_words import NewWord
from scaar.core.text.word_classes import WordClass
from scaar.core.text.words import split_tokens, split_words
from scaar.core.triggers import TRIGGERS, Judgement
from scaar.core.types import (
    Attention,
    EvidenceKind,
    Granularity,
    PolicyOverrides,
    PolicyRequest,
    Token,
    TopToken,
)
from scaar.testing.artefacts import LEARNED
from scaar.testing.fakes import SCRIPTED_MODEL

PIECES = (" The", " dir", "ector", " was", "", " É", ".", " Lang", " twice", " in 19", "27", ".")
TEXT = "".join(PIECES)
WHOLE = tuple(name for name, rule in TRIGGERS.items() if not rule.by_word)
BELOW = ("flare", "exp_raw", "surprisal", "attention")

weights = st.lists(st.floats(0.0, 1.0), min_size=len(PIECES) + 1, max_size=len(PIECES) + 1)


@dataclass(frozen=True)
class Said:
    """What engines said of the text, a value for each of its tokens."""

    entropies: tuple[float, ...]
    logprobs: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]
    classes: tuple[WordClass, ...]
    contributions: tuple[float, ...]
    together: int

    def evidence(self, granularity: Granularity) -> Evidence:
        tokens, end = list[Token](), 0
        for piece, logprob, entropy in zip(PIECES, self.logprobs, self.entropies, strict=True):
            top = TopToken(0, piece, logprob), TopToken(1, "?", logprob - entropy)
            tokens.append(Token(0, piece, end, end + len(piece), logprob, entropy, top))
            end += len(piece)
        by_word = granularity is Granularity.WORD
        units = split_words(TEXT) if by_word else split_tokens(TEXT, tokens)
        moved = (Token(0, each.text, each.start + 1, each.end + 1) for each in tokens)
        stated = Statement(tuple(TEXT.split()), (3, 5), ((7, 8),))
        return Evidence(
            words=units,
            tokens=tuple(tokens),
            contributions=self.contributions[: len(units)],
            attention=Attention((Token(0, "Q", 0, 1), *moved), 1, self.rows),
            word_classes=self.classes[: len(units)],
            own_attention=Attention(tuple(tokens), 0, received=self.rows[-1][1:]),
            corpus_counts=SentenceCounts(stated, (9, 9), (self.together,)),
            support=(NewWord(3, False, True), NewWord(4, self.together > 9, self.together > 0)),
        )


def of_each(values: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[values] * len(PIECES))


said = st.builds(
    Said,
    entropies=of_each(st.floats(0.0, 12.0)),
    logprobs=of_each(st.floats(-12.0, 0.0)),
    rows=st.tuples(*[weights.map(lambda row, n=at: tuple(row[: n + 2])) for at in range(12)]),
    classes=st.tuples(*[st.sampled_from(WordClass)] * len(PIECES)),
    contributions=of_each(st.floats(0.0, 1.0)),
    together=st.integers(0, 1000),
)


def judged(
    trigger: str, given: Said, granularity: Granularity, theta: float, spared: bool | None
) -> Judgement:
    overrides = PolicyOverrides(
        trigger=trigger,
        theta=theta,
        granularity=None if trigger in WHOLE else granularity,
        spare_stop_words=None
        if trigger in WHOLE or EvidenceKind.WORD_CLASSES in TRIGGERS[trigger].needs
        else spared,
    )
    parameters = LEARNED if trigger == "learned" else None
    policy = effective_policy(PolicyRequest("scaar", overrides, learned=parameters), SCRIPTED_MODEL)
    unit = Granularity.WORD if trigger in WHOLE else granularity
    return TRIGGERS[trigger].judge(given.evidence(unit), policy)


@pytest.mark.parametrize("trigger", TRIGGERS)
@given(
    given=said,
    granularity=st.sampled_from(Granularity),
    spared=st.sampled_from([None, True, False]),
    theta=st.floats(0.001, 1.0),
)
def test_a_hair_to_either_side_of_the_score_turns_the_decision(
    trigger: str, given: Said, granularity: Granularity, spared: bool | None, theta: float
) -> None:
    limit = TRIGGERS[trigger].theta
    first = limit.minimum or theta
    score = judged(trigger, given, granularity, first, spared).score
    triggers = {
        side: judged(trigger, given, granularity, near, spared).trigger is not None
        for side, near in (
            ("first", first),
            ("under", 0.0 if score is None else score - max(1e-9, abs(score) * 1e-9)),
            ("over", 0.0 if score is None else score + max(1e-9, abs(score) * 1e-9)),
        )
        if limit.holds(near)
    }
    below = trigger in BELOW
    if score is None:
        assert not triggers["first"], "no word may trigger"
    else:
        assert triggers.get("over", below) is below
        assert triggers.get("under", not below) is not below
        again = judged(trigger, given, granularity, first, spared)
        assert again.score == score
        assert math.isfinite(score)
