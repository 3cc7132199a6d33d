"""The time of an answer by what it was spent on, from the times of its events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    CandidatesScored,
    GateJudged,
    PassagesFiltered,
    PassagesRetrieved,
    QueryBuilt,
    QuestionRewritten,
    RetrievalWeighed,
    SearchRequested,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    TokenDrafted,
)

_SHORTEST_MS = 0.05


@dataclass(frozen=True, slots=True)
class Span:
    """A stage of an answer, in milliseconds from the request."""

    stage: str
    sentence: int | None
    start_ms: float
    end_ms: float

    @property
    def ms(self) -> float:
        """The duration of the stage."""
        return self.end_ms - self.start_ms


def spans_of(events: Sequence[AnswerEvent], event_ms: Sequence[float]) -> tuple[Span, ...]:
    """Return the stages of an answer; consecutive ones of the same kind are one."""
    found: list[Span] = []
    before = 0.0
    for event, at in zip(events, event_ms, strict=False):
        stage, sentence = _stage_of(event)
        if stage is None:
            continue
        last = found[-1] if found else None
        if last is not None and (last.stage, last.sentence) == (stage, sentence):
            found[-1] = Span(stage, sentence, last.start_ms, at)
        elif at - before >= _SHORTEST_MS:
            found.append(Span(stage, sentence, before, at))
        before = at
    return tuple(found)


def totals_of(spans: Sequence[Span]) -> tuple[tuple[str, float], ...]:
    """Return the time of every stage, longest first."""
    sums: dict[str, float] = {}
    for span in spans:
        sums[span.stage] = sums.get(span.stage, 0.0) + span.ms
    return tuple(sorted(sums.items(), key=lambda each: -each[1]))


def stages_of(spans: Sequence[Span]) -> Iterator[str]:
    """Yield the names of the stages, in the order in which they first occur."""
    yield from dict.fromkeys(span.stage for span in spans)


def _stage_of(event: AnswerEvent) -> tuple[str | None, int | None]:
    """Return what an answer did up to an event, and for which sentence."""
    match event:
        case AnswerStarted():
            return "start", None
        case QuestionRewritten():
            return "rewrite the question", None
        case GateJudged():
            return "gate", None
        case TokenDrafted():
            return "draft", event.sentence
        case SentenceJudged():
            return "judge", event.sentence
        case RetrievalWeighed():
            return "weigh", event.sentence
        case CandidatesScored():
            return "candidates", event.sentence
        case QueryBuilt():
            return "query", event.sentence
        case PassagesRetrieved():
            return "retrieve", event.sentence
        case PassagesFiltered():
            return "filter", event.sentence
        case SentenceRegenerated():
            return "rewrite", event.sentence
        case SearchRequested():
            return "write", None
        case SentenceAccepted():
            return "write", event.sentence
        case AnswerFinished():
            return "end", None
        case _:
            return "write", None
