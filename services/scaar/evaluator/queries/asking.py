"""Queries built for the sentences of a draft and put to the retriever, a question at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, ScaarError
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

Contributions = Sequence[float | None] | InvalidRequest
"""Of the words of a sentence; or why the scorer does not take it."""


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
        ScaarError: scorer or retriever do not answer.
    """
    words = {at: split_words(draft.sentences[at]) for at in draft.asked_for}
    told = await _contributions(ports, question, words, askings)
    queries = {
        each.label: [
            _query(
                *(question, draft, each),
                at=at,
                words=words[at],
                told=told[each.scorer, at] if each.scored else [None] * len(words[at]),
            )
            for at in words
        ]
        for each in askings
    }
    put = [each.query for some in queries.values() for each in some if not each.refused]
    ranks = await _ranks(ports, question, put)
    nothing = (0,) * len(question.supports)
    return Asked(
        question.id,
        {
            label: tuple(replace(each, ranks=ranks.get(each.query, nothing)) for each in some)
            for label, some in queries.items()
        },
    )


async def _contributions(
    ports: Ports,
    question: Question,
    words: Mapping[int, Sequence[Word]],
    askings: Sequence[Asking],
) -> Mapping[tuple[Control | None, int], Contributions]:
    """By scorer and sentence, as far as they are asked for."""
    found: dict[tuple[Control | None, int], Contributions] = {}
    for scorer in dict.fromkeys(each.scorer for each in askings if each.scored):
        for at, each in words.items():
            request = ScoreRequest(question.question, tuple(word.text for word in each))
            try:
                # One sentence a call, so that one that is refused takes no other with it.
                (told,) = await ports.scorers[scorer].score_contributions([request])
                found[scorer, at] = told
            except InvalidRequest as error:
                found[scorer, at] = error
    return found


def _query(
    question: Question,
    draft: Draft,
    asking: Asking,
    *,
    at: int,
    words: Sequence[Word],
    told: Contributions,
) -> Retrieval:
    """The query, not put yet; no word is uncertain, since a draft carries no probabilities."""
    if isinstance(told, InvalidRequest):
        return Retrieval(at, "", (), refused=told.message)
    judged = tuple(
        JudgedWord(word.text, word.start, word.end, None, 0.0, False, contribution)
        for word, contribution in zip(words, told, strict=True)
    )
    request = QueryRequest(
        question=question.question,
        settings=asking.query,
        words=judged,
        accepted=tuple(each.strip() for each in draft.sentences[:at]),
    )
    return Retrieval(at, build_query(request).text, ())


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
