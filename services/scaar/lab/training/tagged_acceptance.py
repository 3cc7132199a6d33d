"""Acceptance of the tagged models, measured on seeds that were not used in training.

The list was written before the models were trained. No measure depends on a policy.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from scaar.core.prompts.reflection import (
    IRRELEVANT,
    NO_RETRIEVAL,
    PARAGRAPH,
    PARAGRAPH_END,
    RELEVANT,
    RETRIEVAL,
)
from scaar.lab import layout
from scaar.lab.near_names import near_name, near_title
from scaar.lab.passages import passage_text
from scaar.lab.questions import (
    ANSWER_PHRASE,
    DrawnQuestion,
    Kind,
    ListedFilms,
    draw_question,
)
from scaar.lab.tags import ANSWER, ANSWER_END, SEARCH, SEARCH_END
from scaar.lab.training.acceptance import POPULAR
from scaar.lab.training.conversation_acceptance import (
    CONVERSATION_TARGETS,
    measure_conversations,
)
from scaar.lab.training.free_acceptance import FREE_TARGETS, measure_free_writing
from scaar.lab.training.greedy import GreedyWriter, Written
from scaar.lab.training.tagged_exercises import facts_of
from scaar.lab.world import Fact, World, build_world, draw_film

REFLECTION_TARGETS = {
    "unknown_retrieves": 0.95,
    "known_does_not_retrieve": 0.90,
    "right_passage_relevant": 0.95,
    "near_passage_irrelevant": 0.90,
    "right_passage_answered": 0.95,
}
"""Minimum shares: of questions about films of the tail that begin with a retrieval; of those about
the films of ranks 1 to 50 that do not; of passages of the requested subject judged relevant; of
passages of a subject with a similar name judged irrelevant; of right answers from the former."""
SEARCH_TARGETS = {
    "unknown_searches": 0.90,
    "known_does_not_search": 0.85,
    "query_names_subject": 0.95,
    "found_passage_answered": 0.95,
}
"""Minimum shares: as above for search requests; of first queries that are the name of the subject
that the question needs first; of right answers if the passage is among the results."""
_TARGETS = {
    "reflection": REFLECTION_TARGETS,
    "search": SEARCH_TARGETS,
    "conversation": CONVERSATION_TARGETS,
    "free": FREE_TARGETS,
}
_DECIDED = (Kind.ONE_HOP, Kind.COMPOSITIONAL)


def missed_tagged_targets(exercises: str, measured: Mapping[str, Any]) -> list[str]:
    """Return the measures that prevent the acceptance of a model with these exercises."""
    return [name for name, aim in _TARGETS[exercises].items() if measured[name] < aim]


def measure_tagged_model(
    graph: bytes, tokenizer: Tokenizer, *, exercises: str, seed: int, count: int = 200
) -> dict[str, Any]:
    """Measure a tagged model by its ONNX graph, on ``count`` questions per measure."""
    writer = GreedyWriter(graph, tokenizer)
    world, random = build_world(seed), Random(f"{exercises} acceptance {seed}")

    def write(prompts: Sequence[str]) -> list[str]:
        return [each.text for each in writer.write(prompts)]

    def tokens(written: Written) -> list[str]:
        return [tokenizer.id_to_token(token) for token in written.ids]

    found = {"seed": seed, "questions_each": count}
    if exercises == "free":
        return found | measure_free_writing(world, random, count, writer.write, tokens)
    if exercises == "conversation":
        return found | measure_conversations(world, random, count, write)
    measure = _measure_reflection if exercises == "reflection" else _measure_search
    return found | measure(_Sample(world, random, count), write)


class _Sample:
    """Questions about known films and films of the tail, and passages for them."""

    def __init__(self, world: World, random: Random, count: int) -> None:
        self.random = random
        self._count = count
        known, tail = ListedFilms(world.known[:POPULAR]), ListedFilms(world.tail)
        self.known = [*self._draw(known, _DECIDED[0]), *self._draw(known, _DECIDED[1])]
        self.tail = [*self._draw(tail, _DECIDED[0]), *self._draw(tail, _DECIDED[1])]
        self.one_hop = [draw_question(random, tail, Kind.ONE_HOP) for _ in range(count)]

    def _draw(self, films: ListedFilms, kind: Kind) -> list[DrawnQuestion]:
        return [draw_question(self.random, films, kind) for _ in range(self._count // 2)]

    def right(self, drawn: DrawnQuestion) -> tuple[str, str]:
        """Return title and text of the passage that a question needs first."""
        subject = drawn.facts[0].subject
        return subject, passage_text(facts_of(drawn, subject), self.random)

    def near(self, drawn: DrawnQuestion) -> tuple[str, str]:
        """Return title and text of a passage of the same kind, of a subject with a similar name."""
        subject = drawn.facts[0].subject
        title = subject.startswith("The ")
        name = (near_title if title else near_name)(subject, self.random)
        place = next(
            number
            for film in drawn.films
            for number, each in enumerate(film.subjects())
            if each.name == subject
        )
        facts = draw_film(self.random).subjects()[place].facts
        renamed = [Fact(name, fact.relation, fact.value) for fact in facts]
        return name, passage_text(renamed, self.random)


Write = Callable[[Sequence[str]], list[str]]


def _measure_reflection(sample: _Sample, write: Write) -> dict[str, float]:
    def given(drawn: DrawnQuestion, passage: tuple[str, str]) -> str:
        return f"{layout.prompt(drawn.question)}{RETRIEVAL}{PARAGRAPH}{passage[1]}{PARAGRAPH_END}"

    read = write([given(each, sample.right(each)) for each in sample.one_hop])
    near = write([given(each, sample.near(each)) for each in sample.one_hop])
    return {
        "unknown_retrieves": _share(
            text.startswith(RETRIEVAL) for text in write(_bare(sample.tail))
        ),
        "known_does_not_retrieve": _share(
            text.startswith(NO_RETRIEVAL) for text in write(_bare(sample.known))
        ),
        "right_passage_relevant": _share(text.startswith(RELEVANT) for text in read),
        "near_passage_irrelevant": _share(text.startswith(IRRELEVANT) for text in near),
        "right_passage_answered": _share(
            _concluded(text) == each.answer for text, each in zip(read, sample.one_hop, strict=True)
        ),
        "known_answered": _share(
            _concluded(text) == each.answer
            for text, each in zip(write(_bare(sample.known)), sample.known, strict=True)
        ),
    }


def _measure_search(sample: _Sample, write: Write) -> dict[str, float]:
    first = write(_bare(sample.tail))
    known = write(_bare(sample.known))
    prompts = []
    for each in sample.one_hop:
        passages = [sample.right(each), sample.near(each), sample.near(each)]
        sample.random.shuffle(passages)
        request = f"{SEARCH} {each.facts[0].subject}{SEARCH_END}"
        prompts.append(f"{layout.prompt(each.question)}{request}{layout.search_results(passages)}")
    return {
        "unknown_searches": _share(text.startswith(SEARCH) for text in first),
        "known_does_not_search": _share(not text.startswith(SEARCH) for text in known),
        "query_names_subject": _share(
            _between(text, SEARCH, SEARCH_END) == each.facts[0].subject
            for text, each in zip(first, sample.tail, strict=True)
            if text.startswith(SEARCH)
        ),
        "found_passage_answered": _share(
            _between(text, ANSWER, ANSWER_END) == each.answer
            for text, each in zip(write(prompts), sample.one_hop, strict=True)
        ),
        "known_answered": _share(
            _between(text, ANSWER, ANSWER_END) == each.answer
            for text, each in zip(known, sample.known, strict=True)
        ),
    }


def _bare(questions: Sequence[DrawnQuestion]) -> list[str]:
    return [layout.prompt(each.question) for each in questions]


def _concluded(text: str) -> str:
    """Return the answer after the answer phrase, without tags."""
    return re.split(r"[\[<]", text.rpartition(ANSWER_PHRASE)[2])[0].strip().removesuffix(".")


def _between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0].strip()


def _share(values: Iterable[bool]) -> float:
    found = list(values)
    return round(float(np.mean(found)), 4) if found else 0.0
