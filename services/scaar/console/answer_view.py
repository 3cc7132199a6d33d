"""An answer as its pages show it: the events of each sentence, in order, ready for a template."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scaar.console.differences import Difference, Piece, difference, marked, words_to_mark
from scaar.console.query_view import QueryView, query_view
from scaar.console.timeline import Span, spans_of, stages_of, totals_of
from scaar.console.words import Words, words_of
from scaar.core.policies.settings import SETTINGS
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    EffectivePolicy,
    PassagesRetrieved,
    PromptRead,
    Provenance,
    QueryBuilt,
    RetrievedPassage,
    SentenceJudged,
    SentenceRegenerated,
    Token,
    TokenDrafted,
)


@dataclass(frozen=True, slots=True)
class Block:
    """An event with what its template needs beside it."""

    kind: str
    event: AnswerEvent
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks of a sentence; None for those of the whole answer."""

    sentence: int | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class PassageView:
    """A retrieved passage with the words of the query marked."""

    passage: RetrievedPassage
    title: tuple[Piece, ...]
    text: tuple[Piece, ...]
    read_before: bool
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SettingView:
    """A setting of a policy in effect, with its source and its meaning."""

    name: str
    value: str
    source: str
    meaning: str


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer for its template."""

    sections: tuple[Section, ...]
    answer: Answer | None
    provenance: Provenance | None
    settings: tuple[SettingView, ...]
    spans: tuple[Span, ...]
    stages: tuple[str, ...]
    totals: tuple[tuple[str, float], ...]


class Blocks:
    """Makes blocks of the events of one answer, in their order."""

    def __init__(self) -> None:
        self._policy: EffectivePolicy | None = None
        self._tokens: dict[int, list[Token]] = {}
        self._judged: dict[int, SentenceJudged] = {}
        self._passages: tuple[RetrievedPassage, ...] = ()
        self._query = ""
        self._read: set[str] = set()
        self._number = 0

    def block(self, event: AnswerEvent) -> Block | None:
        """Return the block of an event; None for one that has none of its own.

        The ``number`` of a block is for the ids of its elements.
        """
        kind = type(event).__name__
        self._number += 1
        match event:
            case AnswerStarted():
                self._policy = event.provenance.policy
                return None
            case TokenDrafted():
                self._tokens.setdefault(event.sentence, []).append(event.token)
                return None
            case AnswerFinished() | PromptRead():
                return None
            case SentenceJudged():
                self._judged[event.sentence] = event
                tokens = self._tokens.pop(event.sentence, [])
                return Block(
                    kind, event, {"words": self._words(event, tokens), "number": self._number}
                )
            case QueryBuilt():
                self._query = f"{event.query.text} {event.query.fused_with}"
                found = self._query_view(event)
                return Block(kind, event, {"found": found, "number": self._number})
            case PassagesRetrieved():
                return Block(kind, event, {"passages": self._passage_views(event)})
            case SentenceRegenerated():
                return Block(kind, event, {"difference": self._difference(event)})
            case _:
                return Block(kind, event)

    def _words(self, event: SentenceJudged, tokens: Sequence[Token]) -> Words | None:
        return words_of(event, self._policy, tokens) if self._policy is not None else None

    def _query_view(self, event: QueryBuilt) -> QueryView | None:
        judged = self._judged.get(event.sentence)
        if judged is None or self._policy is None:
            return None
        return query_view(event.query, judged, self._policy)

    def _passage_views(self, event: PassagesRetrieved) -> tuple[PassageView, ...]:
        wanted = words_to_mark(self._query)
        views = tuple(
            PassageView(
                each,
                marked(each.title, wanted),
                marked(each.text, wanted),
                each.id in self._read,
                parts_of(each),
            )
            for each in event.passages
        )
        self._passages = event.passages
        self._read.update(each.id for each in event.passages)
        return views

    def _difference(self, event: SentenceRegenerated) -> Difference:
        return difference(event.draft, event.text, self._passages)


def view_of(events: Sequence[AnswerEvent], event_ms: Sequence[float] = ()) -> AnswerView:
    """Return the view of an answer from its events, complete or not, and their times."""
    started = next((each for each in events if isinstance(each, AnswerStarted)), None)
    finished = next((each for each in events if isinstance(each, AnswerFinished)), None)
    provenance = started.provenance if started is not None else None
    if finished is not None:
        provenance = finished.answer.provenance
    spans = spans_of(events, event_ms)
    return AnswerView(
        tuple(_sections(events)),
        finished.answer if finished is not None else None,
        provenance,
        settings_of(provenance.policy) if provenance is not None else (),
        spans,
        tuple(stages_of(spans)),
        totals_of(spans),
    )


def settings_of(policy: EffectivePolicy) -> tuple[SettingView, ...]:
    """Return the adjustable settings of a policy with the source of each value."""
    found = []
    for name, source in policy.sources:
        holder: Any = policy.query if hasattr(policy.query, name) else policy
        value = policy.query.formulation if name == "query" else getattr(holder, name, None)
        setting = SETTINGS.get(name)
        meaning = setting.meaning if setting is not None else ""
        shown = "none" if value is None else f"{value:g}" if isinstance(value, float) else value
        found.append(SettingView(name, str(shown), source.value, meaning))
    return tuple(found)


def parts_of(passage: RetrievedPassage) -> tuple[tuple[str, str], ...]:
    """Return the score of a passage and its parts, with their names."""
    found = [("score", f"{passage.score:.4g}")]
    if (parts := passage.score_parts) is not None:
        for name in ("words", "vectors", "fused"):
            if (ranked := getattr(parts, name)) is not None:
                found.append((name, f"{ranked.score:.4g} (rank {ranked.rank})"))
        if parts.rerank is not None:
            found.append(("reranked", f"{parts.rerank:.4g}"))
    return tuple(found)


def _sections(events: Iterable[AnswerEvent]) -> Iterable[Section]:
    blocks, of_sentence = Blocks(), -2
    found: list[tuple[int | None, list[Block]]] = []
    for event in events:
        block = blocks.block(event)
        if block is None:
            continue
        sentence = getattr(event, "sentence", None)
        key = -1 if sentence is None else sentence
        if key != of_sentence:
            found.append((sentence, []))
            of_sentence = key
        found[-1][1].append(block)
    return [Section(sentence, tuple(held)) for sentence, held in found]
