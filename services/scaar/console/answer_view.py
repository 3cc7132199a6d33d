"""An answer as its pages show it: the events of each sentence, in order, ready for a template."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from scaar.console.blocks import Block, Blocks, sections_of
from scaar.console.passage_list import WrittenWith
from scaar.console.passage_names import PassageLink, PassageNames
from scaar.console.reason import Reason
from scaar.console.timeline import Span, spans_of, stages_of, totals_of
from scaar.core.policies.settings import SETTINGS
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    EffectivePolicy,
    Provenance,
    SentenceAccepted,
)


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks below a heading. ``repeated`` is what they have in common; then they are folded.

    ``start`` is the number of the first sentence of those that are folded.
    """

    heading: str
    blocks: tuple[Block, ...]
    repeated: str = ""
    start: int = 0


@dataclass(frozen=True, slots=True)
class SettingView:
    """A setting of a policy in effect, with its source and its meaning."""

    name: str
    value: str
    source: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Sources:
    """The passages of an answer: those that support a sentence, and all that were read."""

    supporting: tuple[PassageLink, ...] = ()
    read: tuple[PassageLink, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer for its template.

    ``sources`` are its passages. ``reason`` says why it did
    not search, where no section does.
    """

    sections: tuple[Section, ...]
    sources: Sources
    reason: Reason | None
    answer: Answer | None
    provenance: Provenance | None
    settings: tuple[SettingView, ...]
    spans: tuple[Span, ...]
    stages: tuple[str, ...]
    totals: tuple[tuple[str, float], ...]


def view_of(
    events: Sequence[AnswerEvent], event_ms: Sequence[float] = (), *, question: str = ""
) -> AnswerView:
    """Return the view of an answer from its events, complete or not, and their times."""
    started = next((each for each in events if isinstance(each, AnswerStarted)), None)
    finished = next((each for each in events if isinstance(each, AnswerFinished)), None)
    provenance = started.provenance if started is not None else None
    if finished is not None:
        provenance = finished.answer.provenance
    spans, blocks = spans_of(events, event_ms), Blocks(question)
    sections = [Section(heading, tuple(held)) for heading, held in sections_of(events, blocks)]
    answer = finished.answer if finished is not None else None
    return AnswerView(
        tuple(_folded(sections)),
        sources_of(answer, blocks.names) if answer is not None else Sources(),
        blocks.searches.reason_without(),
        answer,
        provenance,
        settings_of(provenance.policy) if provenance is not None else (),
        spans,
        tuple(stages_of(spans)),
        totals_of(spans),
    )


def _folded(sections: Sequence[Section]) -> Iterator[Section]:
    """Yield the sections, with consecutive ones folded that only repeat what they are made of."""
    for text, group in groupby(sections, _repeated_text):
        alike = list(group)
        if not text or len(alike) == 1:
            yield from alike
            continue
        blocks = tuple(section.blocks[0] for section in alike)
        events = [block.event for block in blocks if isinstance(block.event, SentenceAccepted)]
        first, last = events[0].sentence + 1, events[-1].sentence + 1
        yield Section(f"Sentences {first} to {last}", blocks, text + _support(events), first)


def _support(events: Sequence[SentenceAccepted]) -> str:
    """Return how many of the sentences that are folded no passage supports."""
    unsupported = sum(event.accepted.lacks_support for event in events)
    if unsupported == len(events):
        return " No passage seems to support them."
    return f" No passage seems to support {unsupported} of them." if unsupported else ""


def _repeated_text(section: Section) -> str:
    """Return what a sentence was written with if nothing else is to be said of it."""
    block = section.blocks[0]
    if len(section.blocks) > 1 or not isinstance(block.event, SentenceAccepted):
        return ""
    written: WrittenWith = block.more["written_with"]
    return written.text if written.is_same and block.event.accepted.degraded is None else ""


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


def sources_of(answer: Answer, names: PassageNames) -> Sources:
    """Return the passages of an answer, each name once."""
    sentences = answer.sentences
    supporting = (name for sentence in sentences for name in sentence.supporting_passage_ids)
    read = (name for sentence in sentences for name in sentence.passage_ids)
    return Sources(names.of(supporting), names.of(read))
