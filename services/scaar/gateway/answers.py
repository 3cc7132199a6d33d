"""Answers in parts, for streams, and whole."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from scaar.core.errors import StreamIncomplete
from scaar.core.types import (
    AbstentionReason,
    AcceptedSentence,
    AcceptedToken,
    Answer,
    AnswerEnd,
    AnswerFinished,
    AnswerStarted,
    GateJudged,
    Moment,
    PassagesRetrieved,
    Provenance,
    SentenceAccepted,
    SentenceJudged,
)
from scaar.gateway.content import Citation, Content, Link, Span
from scaar.gateway.orchestrator import Caller
from scaar.gateway.parameters import AnswerParameters
from scaar.wire.messages.events import answer_event_to_json

ABSTAINING_GATE = "p_correct"

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Style:
    """How an answer is returned: its citations, decisions and stop sequences."""

    citations: str
    url_field: str
    gateway: str
    """URL of the gateway, which links to passages begin with."""
    events: bool = False
    stop: tuple[str, ...] = ()


def link_of(provenance: Provenance, parameters: AnswerParameters, style: Style) -> Link:
    """Return the links of an answer to passages of the index that it used."""
    index = provenance.index or parameters.request.index
    return Link(index, style.url_field, style.gateway)


@dataclass(frozen=True, slots=True)
class Started:
    """What answers. Errors before this part have an HTTP status of their own."""

    provenance: Provenance


@dataclass(frozen=True, slots=True)
class TextAdded:
    """Accepted text, and the citations that it adds. It is never taken back.

    ``tokens`` are those of the text, if the request sets ``logprobs``.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    tokens: tuple[AcceptedToken, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """An event of the answer, in the JSON form of the contract."""

    event: Json


@dataclass(frozen=True, slots=True)
class Completed:
    """The end: the whole answer, and its text and citations as the client gets them."""

    answer: Answer
    text: str
    citations: tuple[Citation, ...]
    refusal: str = ""
    """Why the answer is not given; its text is empty."""
    stopped: bool = False
    decisions: tuple[Json, ...] = field(default=(), repr=False)
    tokens: tuple[AcceptedToken, ...] = field(default=(), repr=False)
    """The tokens of the text, if the request sets ``logprobs``."""
    unsupported: tuple[Span, ...] = ()
    """The sentences that no passage supports; empty if the answer says that it found none."""

    @property
    def truncated(self) -> bool:
        """Whether a limit of the budget ended the answer."""
        limited = self.answer.end in (AnswerEnd.MAX_TOKENS, AnswerEnd.MAX_SENTENCES)
        return limited and not self.stopped


Part = Started | TextAdded | Decided | Completed


async def stream_parts(
    caller: Caller, parameters: AnswerParameters, style: Style
) -> AsyncGenerator[Part, None]:
    """Yield the parts of an answer: Started first, Completed last.

    If the model may abstain, the text follows when it is known that it does not: at the end.
    """
    before = Link(parameters.request.index, style.url_field, style.gateway)
    content = Content(before.of, style.stop)
    held: list[TextAdded] | None = None
    judged_as_a_whole = False
    decisions: list[Json] = []
    request = replace(parameters.request, omit_drafted_tokens=not style.events)
    async with aclosing(caller.answerer.stream_answer(request)) as events:
        async for event in events:
            if isinstance(event, AnswerStarted):
                content = Content(link_of(event.provenance, parameters, style).of, style.stop)
                judged_as_a_whole = Moment.AFTER_ANSWER in event.provenance.policy.moments
                yield Started(event.provenance)
            if style.events:
                decisions.append(answer_event_to_json(event))
                yield Decided(decisions[-1])
            match event:
                case GateJudged(gate=gate) if gate == ABSTAINING_GATE:
                    held = []
                case SentenceJudged(trigger=int(), retrieving=False) if judged_as_a_whole:
                    held = []
                case PassagesRetrieved():
                    content.add_passages(event.passages)
                case SentenceAccepted():
                    part = _added(content, event.accepted, style)
                    if held is not None:
                        held.append(part)
                    elif part.text or part.citations:
                        yield part
                case AnswerFinished():
                    refusal = _refusal(event.answer) if held is not None else ""
                    rest = _finished(content, event.answer, style)
                    for each in () if refusal else (*(held or ()), rest):
                        if each.text or each.citations:
                            yield each
                    yield _completed(event.answer, content, style, refusal, decisions)
                    return
    raise StreamIncomplete("the stream of the answer ended before its last event")


async def whole_answer(caller: Caller, parameters: AnswerParameters, style: Style) -> Completed:
    """Return an answer; in one call, if its decisions are not requested."""
    if style.events:
        async with aclosing(stream_parts(caller, parameters, style)) as parts:
            async for part in parts:
                if isinstance(part, Completed):
                    return part
        raise StreamIncomplete("the stream of the answer ended before its last event")
    answer = await caller.answerer.answer(parameters.request)
    content = Content(link_of(answer.provenance, parameters, style).of, style.stop)
    content.add_passages(answer.passages)
    for sentence in answer.sentences:
        content.add(sentence)
    _finished(content, answer, style)
    return _completed(answer, content, style, _refusal(answer), ())


def _added(content: Content, sentence: AcceptedSentence, style: Style) -> TextAdded:
    known = len(content.tokens)
    text, citations = content.add(sentence)
    tokens = tuple(content.tokens[known:])
    return TextAdded(text, citations if style.citations != "none" else (), tokens)


def _finished(content: Content, answer: Answer, style: Style) -> TextAdded:
    known = len(content.tokens)
    # An answer that is none has no sources, and nothing that a passage could support.
    with_sources = style.citations == "markdown" and answer.abstained is None
    text = content.finish(with_sources=with_sources)
    return TextAdded(text, tokens=tuple(content.tokens[known:]))


def _refusal(answer: Answer) -> str:
    abstained = answer.abstained
    if abstained is not None and abstained.reason is AbstentionReason.UNSUPPORTED:
        return "I found no answer in the documents: what I wrote is not in the passages I read."
    if abstained is None or abstained.reason is not AbstentionReason.GATE:
        # That the documents do not contain the answer is an answer.
        return ""
    return (
        "I do not know. The probability that my answer is correct is "
        f"{abstained.p_correct:.2f}, below the limit of {abstained.limit:.2f}."
    )


def _completed(
    answer: Answer, content: Content, style: Style, refusal: str, decisions: Sequence[Json]
) -> Completed:
    cited = () if refusal or style.citations == "none" else tuple(content.citations)
    return Completed(
        answer,
        text="" if refusal else content.text,
        citations=cited,
        refusal=refusal,
        stopped=content.stopped,
        decisions=tuple(decisions),
        tokens=() if refusal else tuple(content.tokens),
        unsupported=() if answer.abstained else tuple(content.unsupported),
    )
