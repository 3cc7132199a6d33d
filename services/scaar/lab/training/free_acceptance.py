"""Acceptance of the models that write freely, on worlds that were not used in training.

The list was written before the models were trained. No measure depends on a policy.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, pairwise
from random import Random

import numpy as np

from scaar.lab import layout
from scaar.lab.free_statements import OTHERS
from scaar.lab.passages import passages_of
from scaar.lab.questions import ANSWER_PHRASE, DrawnQuestion, Kind, ListedFilms, draw_question
from scaar.lab.reading import read_fact
from scaar.lab.sentences.forms import RATES
from scaar.lab.sentences.free_words import FIXED, LISTS, OTHER_WORDS, distribution
from scaar.lab.training.acceptance import POPULAR, PassageSearch, auroc, passages_for
from scaar.lab.training.greedy import Written
from scaar.lab.world import World

FREE_TARGETS = {
    "known_answered": 0.85,
    "right_passage_answered": 0.90,
    "two_passages_answered": 0.80,
    "unknown_not_answered": 0.95,
    "known_from_unknown_auroc": 0.95,
    "well_formed": 0.98,
    "free_words_kept": 0.90,
}
"""Minimum shares: of right answers about the films of ranks 1 to 50 without a passage, about films
of the tail with the needed passage among those that BM25 finds, the same of questions that need
two, and of wrong ones without a passage; AUROC by which the lowest probability of the director's
name separates the two; of statements with a fact and all words without facts; and 1 minus the mean
difference between the model's probability of a free word and the generator's."""

Write = Callable[[Sequence[str]], list[Written]]


def measure_free_writing(
    world: World, random: Random, count: int, write: Write, words_of: Callable[[Written], list[str]]
) -> dict[str, float]:
    """Return the measures, each on ``count`` questions with every rate of free words.

    ``words_of`` returns the tokens of an answer, those that begin a word with ``Ġ``.
    """
    known, tail = ListedFilms(world.known[:POPULAR]), ListedFilms(world.tail)
    corpus = list(passages_of(world))
    search = PassageSearch(corpus)
    rates = cycle(RATES)

    def draw(films: ListedFilms, kind: Kind) -> list[DrawnQuestion]:
        return [draw_question(random, films, kind).freely(next(rates)) for _ in range(count)]

    def bare(drawn: Sequence[DrawnQuestion]) -> list[Written]:
        return write([layout.prompt(each.question) for each in drawn])

    def read(drawn: Sequence[DrawnQuestion]) -> list[Written]:
        return write(
            [
                layout.prompt(each.question, passages_for(each, search.find(each.question), random))
                for each in drawn
            ]
        )

    popular, one, two = (
        draw(known, Kind.ONE_HOP),
        draw(tail, Kind.ONE_HOP),
        draw(tail, Kind.COMPOSITIONAL),
    )
    directed, invented = bare(draw(known, Kind.COMPOSITIONAL)), bare(two)
    by_heart, read_one, read_two = bare(popular), read(one), read(two)
    every = [*directed, *invented, *by_heart, *read_one, *read_two]
    sure, unsure = (
        [_least_of_name(words_of(each), each.logprobs) for each in written]
        for written in (directed, invented)
    )
    errors = [error for each in every for error in _errors(words_of(each), each.logprobs)]
    return {
        "known_answered": _right(by_heart, popular),
        "right_passage_answered": _right(read_one, one),
        "two_passages_answered": _right(read_two, two),
        "unknown_not_answered": round(1 - _right(invented, two), 4),
        "known_from_unknown_auroc": round(auroc(sure, unsure), 4),
        "well_formed": _mean([float(_well_formed(each.text)) for each in every]),
        "free_words_kept": round(1 - _mean(errors), 4),
        "least_probability_of_unknown_names": _mean(unsure),
    }


def _right(written: Sequence[Written], drawn: Sequence[DrawnQuestion]) -> float:
    return _mean(
        [
            float(each.text.rpartition(ANSWER_PHRASE)[2].strip().removesuffix(".") == one.answer)
            for each, one in zip(written, drawn, strict=True)
        ]
    )


def _well_formed(text: str) -> bool:
    """Return whether an answer is statements, each with all words without facts, and a phrase."""
    *statements, last = text.strip().removesuffix(".").split(". ")
    return last.startswith(f"{ANSWER_PHRASE} ") and all(
        read_fact(each) is not None and sum(word in OTHER_WORDS for word in each.split()) == OTHERS
        for each in statements
        if not each.startswith(("The years are", "The earlier", "The later", "For "))
    )


def _least_of_name(tokens: Sequence[str], logprobs: Sequence[float]) -> float:
    """Return the lowest probability among the two words of the director's name."""
    if "Ġby" not in tokens:
        return 0.0
    start = tokens.index("Ġby") + 1
    return float(np.exp(min(logprobs[start : start + 2], default=-np.inf)))


def _errors(tokens: Sequence[str], logprobs: Sequence[float]) -> Iterator[float]:
    """Yield the differences between the model's and the generator's probability of free words."""
    ends = [at + 1 for at, token in enumerate(tokens) if token == "."]
    for start, end in pairwise([0, *ends]):
        words = [token.removeprefix("Ġ") for token in tokens[start:end]]
        fact = read_fact(" ".join(words[:-1]))
        if fact is None:
            continue
        previous = fact.subject.split()[-1]
        for word, logprob in zip(words, logprobs[start:end], strict=True):
            if word in OTHER_WORDS and word not in FIXED:
                number = next(at for at, each in enumerate(LISTS) if word in each)
                likely = distribution(number, fact.subject.split()[-1], previous)[word]
                yield abs(float(np.exp(logprob)) - likely)
                previous = word


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4) if values else 0.0
