"""Scripted ports of the loop, and readers of its events."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TypeVar

from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import CorpusCounts
from scaar.core.sentence_filter.learned_filter import LearnedFilter
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    BudgetLimits,
    GenerateRequest,
    Passage,
    PolicyOverrides,
    PolicyRequest,
    Query,
    QueryRequest,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.corpus_counts import LONDON_CORPUS
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator, ScriptedScorer
from scaar.testing.sentence_filter import OVERLAP_FILTER

QUESTION = "Where was Ada born?"
BORN_IN_PARIS = " Ada was born in Paris."
BORN_IN_LONDON = " Ada was born in London."
SO_PARIS = " So the answer is Paris."
SO_LONDON = " So the answer is London."
PASSAGES = (
    Passage("p1", "Ada", "Ada was born in London."),
    Passage("p2", "Byron", "Byron was born in London too."),
)
DRAFTS = {"": BORN_IN_PARIS + SO_PARIS, BORN_IN_PARIS: SO_PARIS, BORN_IN_LONDON: SO_LONDON}
"""Drafts of the model from its own memory, by the text so far."""
AGAIN = {"": BORN_IN_LONDON + SO_LONDON}
"""Text of the model with passages, by the text so far."""

_Event = TypeVar("_Event", bound=AnswerEvent)
Script = Callable[[GenerateRequest], list[Piece]]


def words_of(text: str, doubts: Iterable[str] = ()) -> list[Piece]:
    """Return one token for each word, with the space before it; doubts have a low probability."""
    if not text.strip():
        return [(text, -0.01)] if text else []
    return [(f" {word}", -2.0 if word in doubts else -0.01) for word in text.split(" ")[1:]]


def model(
    drafts: Mapping[str, str] = DRAFTS,
    again: Mapping[str, str] = AGAIN,
    doubts: Iterable[str] = (),
) -> Script:
    """Return a script that writes from the passages if the prompt has some."""
    return lambda requested: words_of(
        (again if "Context:" in requested.prompt else drafts)[requested.prefix], doubts
    )


def _asking(requested: GenerateRequest) -> list[Piece]:
    answered = "</information>" in requested.prefix
    return [("<answer>London</answer>" if answered else "<search>born</search>", -0.01)]


UNSURE_OF_PARIS = model(doubts=["Paris."])
ASKING: Script = _asking
"""Requests a search, and answers from its results."""


@dataclass
class Parts:
    """The four ports as fakes that record their requests."""

    generator: ScriptedGenerator
    scorer: ScriptedScorer = field(default_factory=lambda: ScriptedScorer({"Ada": 0.15, "in": 0.1}))
    query_builder: "RecordingQueryBuilder" = field(default_factory=lambda: RecordingQueryBuilder())
    retriever: InMemoryRetriever = field(
        default_factory=lambda: InMemoryRetriever({"lab": PASSAGES})
    )
    clock: Callable[[], float] = lambda: 0.0
    draft_ahead: bool = True
    sentence_filter: LearnedFilter | None = OVERLAP_FILTER
    corpus_counts: CorpusCounts | None = LONDON_CORPUS
    default_index: str = "lab"

    def loop(self) -> AdaptiveLoop:
        return AdaptiveLoop(
            Ports(self.generator, self.scorer, self.query_builder, self.retriever),
            draft_ahead=self.draft_ahead,
            sentence_filter=self.sentence_filter,
            corpus_counts=self.corpus_counts,
            clock=self.clock,
            new_request_id=lambda: "made",
            default_index=self.default_index,
        )

    async def events(self, request: AnswerRequest) -> list[AnswerEvent]:
        async with aclosing(self.loop().stream_answer(request)) as events:
            return [event async for event in events]


class RecordingQueryBuilder(LocalQueryBuilder):
    def __init__(self) -> None:
        self.requests: list[QueryRequest] = []

    async def build_query(self, request: QueryRequest) -> Query:
        self.requests.append(request)
        return await super().build_query(request)


class Untouchable:
    """A port that must not be used."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"{name} was asked")


def parts(script: Script, **changed: object) -> Parts:
    return Parts(ScriptedGenerator(script), **changed)  # type: ignore[arg-type]


def asking(
    policy: str = "scaar", *, budget: BudgetLimits | None = None, **overrides: object
) -> AnswerRequest:
    changes = PolicyOverrides(**overrides)  # type: ignore[arg-type]
    return AnswerRequest(QUESTION, PolicyRequest(policy, changes), budget=budget or BudgetLimits())


def only(kind: type[_Event], events: Sequence[AnswerEvent]) -> list[_Event]:
    return [event for event in events if isinstance(event, kind)]


def kinds(events: Sequence[AnswerEvent]) -> list[str]:
    """The names of the events, one for a run of drafted tokens."""
    names = [type(event).__name__ for event in events]
    return [
        name
        for at, name in enumerate(names)
        if at == 0 or name != "TokenDrafted" or names[at - 1] != name
    ]


def answer_in(events: Sequence[AnswerEvent]) -> Answer:
    finished = events[-1]
    assert isinstance(finished, AnswerFinished)
    return finished.answer


def sentences_in(events: Sequence[AnswerEvent]) -> list[str]:
    return [sentence.text for sentence in answer_in(events).sentences]


def other_tasks() -> set[asyncio.Task[object]]:
    """Return the tasks that run besides the test."""
    return asyncio.all_tasks() - {asyncio.current_task()}
