"""A model whose attention fails, is not what it promised, or says nothing of its words."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, ScaarError
from scaar.core.policies import PRESETS
from scaar.core.policies.requirements import attends
from scaar.core.types import (
    AnswerRequest,
    AttendRequest,
    Attention,
    GenerateRequest,
    GenerationEvent,
    OnFailure,
    SentenceJudged,
    Token,
)
from scaar.testing.fakes import WHITE_BOX_MODEL, Piece, ScriptedGenerator

from .scripted import (
    BORN_IN_PARIS,
    SO_PARIS,
    Parts,
    answer_in,
    asking,
    model,
    only,
    sentences_in,
)

ATTENDING = [name for name, each in PRESETS.items() if attends(each.query.formulation)]
"""The policies whose query goes by attention."""

Row = tuple[float, ...]


class Attending(ScriptedGenerator):
    """A white box that returns the given attention with its tokens."""

    def __init__(
        self,
        script: Callable[[GenerateRequest], list[Piece]],
        *,
        rows: Callable[[Row], Row] = lambda row: (),
        attention: Callable[[AttendRequest], Attention] | None = None,
    ) -> None:
        super().__init__(script, model=WHITE_BOX_MODEL, attention=attention)
        self._rows = rows
        self.attended: list[AttendRequest] = []

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        async for event in super().generate(request):
            if isinstance(event, Token):
                event = replace(event, attention=self._rows(event.attention))
            yield event

    async def attend(self, request: AttendRequest) -> Attention:
        self.attended.append(request)
        return await super().attend(request)


def gone(request: AttendRequest) -> Attention:
    raise BackendUnavailable("generator:50052 does not answer", target="generator:50052")


def short(request: AttendRequest) -> Attention:
    tokens = tuple(Token(0, each, at, at + 1) for at, each in enumerate(request.text))
    return Attention(tokens, 0, tuple((1.0,) for _ in tokens))


def unsure() -> AnswerRequest:
    return asking("dragin", theta=0.001)


DOUBTS = model(doubts=["Ada", "born", "Paris."])


async def test_a_failing_request_for_attention_fails_the_answer() -> None:
    with pytest.raises(BackendUnavailable, match="generator:50052"):
        await Parts(Attending(DOUBTS, attention=gone)).events(unsure())


@pytest.mark.parametrize(
    ("attention", "reason"), [(gone, "BACKEND_UNAVAILABLE"), (short, "INTERNAL")]
)
async def test_the_draft_is_accepted_on_request(
    attention: Callable[[AttendRequest], Attention], reason: str
) -> None:
    request = replace(unsure(), on_failure=OnFailure.ACCEPT_DRAFT)
    events = await Parts(Attending(DOUBTS, attention=attention)).events(request)
    assert sentences_in(events) == [BORN_IN_PARIS, SO_PARIS]
    first, conclusion = answer_in(events).sentences
    assert first.degraded is not None
    assert (first.degraded.stage, first.degraded.reason) == ("judging sentence 0", reason)
    assert conclusion.degraded is None


@pytest.mark.parametrize(
    "rows",
    [lambda row: (), lambda row: row[:-1], lambda row: (*row, 0.0)],
    ids=["none", "too short", "too long"],
)
async def test_missing_attention_is_requested(
    rows: Callable[[Row], Row],
) -> None:
    promised = Parts(ScriptedGenerator(DOUBTS, model=WHITE_BOX_MODEL))
    broken = Attending(DOUBTS, rows=rows)
    expected = only(SentenceJudged, await promised.events(unsure()))
    assert only(SentenceJudged, await Parts(broken).events(unsure())) == expected
    assert broken.attended


async def test_attention_with_an_invalid_number_is_refused() -> None:
    broken = Attending(DOUBTS, rows=lambda row: (float("nan"),) * len(row))
    with pytest.raises(ScaarError, match="an attention that is not a number"):
        await Parts(broken).events(unsure())


async def test_attention_for_the_query_alone_fails_as_that_for_the_trigger_does() -> None:
    request = asking("mean_entropy", theta=0.001, query="attention")
    with pytest.raises(BackendUnavailable):
        await Parts(Attending(DOUBTS, attention=gone)).events(request)
    certain = asking("mean_entropy", theta=100.0, query="attention")
    judged = only(SentenceJudged, await Parts(Attending(DOUBTS, attention=gone)).events(certain))
    assert [each.trigger for each in judged] == [None]


@pytest.mark.parametrize("text", [" The.", " It was with them.", " 'And'?"])
@pytest.mark.parametrize("policy", ATTENDING)
async def test_a_sentence_of_nothing_that_may_trigger_has_no_score(policy: str, text: str) -> None:
    def doubtful(requested: GenerateRequest) -> Sequence[Piece]:
        return (
            [(f" {word}", -5.0) for word in text.split()] if not requested.prefix else [(" 4.", -1)]
        )

    ports = Parts(ScriptedGenerator(doubtful, model=WHITE_BOX_MODEL))
    (judged,) = only(SentenceJudged, await ports.events(asking(policy, theta=0.001)))
    assert (judged.trigger, judged.score, judged.retrieving) == (None, None, False)
    assert not any(word.uncertain for word in judged.words)


async def test_a_sentence_of_one_word_weighs_what_it_is_unsure() -> None:
    def one(requested: GenerateRequest) -> list[Piece]:
        return [(" Murnau.", -1.0)] if not requested.prefix else [(" 4.", -0.1)]

    ports = Parts(ScriptedGenerator(one, model=WHITE_BOX_MODEL))
    (judged,) = only(SentenceJudged, await ports.events(asking("dragin", theta=3.0)))
    (word,) = judged.words
    assert (word.attention, word.value, judged.score) == (1.0, 2.0, 2.0)
