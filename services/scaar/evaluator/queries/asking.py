"""Queries built for the sentences of a draft and put to the retriever, a question at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, ScaarError, Violation
from scaar.core.ports import ContributionScorer, Retriever
from scaar.core.queries import build_query
from scaar.core.types import JudgedWord, QueryRequest, RetrieveRequest, ScoreRequest, Word
from scaar.core.words import split_words
from scaar.evaluator.queries.askings import Asking
from scaar.evaluator.queries.drafts import Draft
from scaar.evaluator.queries.records import CUTS, Asked, Retrieval
from scaar.evaluator.records import Question

_AT_ONCE = 500
"""Queries of one request."""

Contributions = Mapping[Control | None, Sequence[Sequence[float]]]
"""By scorer, then by sentence, then by word."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Who tells contributions, by control, and who finds passages in which index."""

    scorers: Mapping[Control | None, ContributionScorer]
    retriever: Retriever
    index: str
    index_version: str


async def ask(ports: Ports, question: Question, draft: Draft, askings: Sequence[Asking]) -> Asked:
    """What every asking finds for every sentence; of equal queries one is put.

    Raises:
        InvalidRequest: naming the question whose draft a scorer does not take.
        ScaarError: scorer or retriever do not answer.
    """
    places = draft.asked_for
    words = [split_words(draft.sentences[at]) for at in places]
    try:
        told = await _contributions(ports, question, words, askings)
    except InvalidRequest as error:
        wrong = [
            Violation(f"question {question.id}, {each.field}", each.description)
            for each in error.violations
        ]
        raise InvalidRequest(wrong) from error
    queries = {
        each.label: [
            _query(question, draft, each, at=at, words=words[number], told=told, number=number)
            for number, at in enumerate(places)
        ]
        for each in askings
    }
    ranks = await _ranks(ports, question, [one for each in queries.values() for one in each])
    return Asked(
        question.id,
        {
            label: tuple(
                Retrieval(at, query, ranks[query]) for at, query in zip(places, each, strict=True)
            )
            for label, each in queries.items()
        },
    )


async def _contributions(
    ports: Ports, question: Question, words: Sequence[Sequence[Word]], askings: Sequence[Asking]
) -> Contributions:
    wanted = dict.fromkeys(each.scorer for each in askings if each.scored)
    requests = [
        ScoreRequest(question.question, tuple(word.text for word in each)) for each in words
    ]
    return {
        # One sentence a call: how many words a call may have is the scorer's affair.
        scorer: [
            (await ports.scorers[scorer].score_contributions([request]))[0] for request in requests
        ]
        for scorer in wanted
    }


def _query(
    question: Question,
    draft: Draft,
    asking: Asking,
    *,
    at: int,
    words: Sequence[Word],
    told: Contributions,
    number: int,
) -> str:
    """The text of the query; no word is uncertain, since a draft carries no probabilities."""
    found = told[asking.scorer][number] if asking.scored else [None] * len(words)
    judged = tuple(
        JudgedWord(word.text, word.start, word.end, None, 0.0, False, contribution)
        for word, contribution in zip(words, found, strict=True)
    )
    request = QueryRequest(
        question=question.question,
        settings=asking.query,
        words=judged,
        accepted=tuple(each.strip() for each in draft.sentences[:at]),
    )
    return build_query(request).text


async def _ranks(
    ports: Ports, question: Question, queries: Sequence[str]
) -> Mapping[str, tuple[int, ...]]:
    """The ranks of the supports for each different query."""
    different = tuple(dict.fromkeys(queries))
    found = {}
    for start in range(0, len(different), _AT_ONCE):
        some = different[start : start + _AT_ONCE]
        request = RetrieveRequest(some, top_k=CUTS[-1], index=ports.index)
        result = await ports.retriever.retrieve(request)
        if result.version != ports.index_version:
            raise ScaarError(f"the index {ports.index!r} has changed while the queries were put")
        for query, passages in zip(some, result.results, strict=True):
            at = {passage.id: passage.rank for passage in passages}
            found[query] = tuple(at.get(support, 0) for support in question.supports)
    return found
