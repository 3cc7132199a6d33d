"""Queries for the sentences of a draft, built and sent to the retriever question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.ports import ContributionScorer, Retriever
from scaar.core.queries import build_query
from scaar.core.text.words import split_words
from scaar.core.types import JudgedWord, QueryRequest, RetrieveRequest, ScoreRequest, Word
from scaar.evaluator.records import Question
from scaar.evaluator.studies.queries.drafts import Draft
from scaar.evaluator.studies.queries.formulations import FormulationVariant
from scaar.evaluator.studies.queries.records import CUTS, QuestionRetrievals, Retrieval

_BATCH = 500
"""Maximum number of queries of a request."""

Contributions = Sequence[float | None] | InvalidRequest
"""The contributions of the words of a sentence, or the error of the scorer."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The scorers by control, and the retriever with its index."""

    scorers: Mapping[Control | None, ContributionScorer]
    retriever: Retriever
    index: str
    index_version: str


async def retrieve_for(
    ports: Ports, question: Question, draft: Draft, variants: Sequence[FormulationVariant]
) -> QuestionRetrievals:
    """Return the retrievals of every formulation for every sentence; equal queries are sent once.

    Raises:
        ScaarError: the scorer or the retriever fails.
    """
    words = {at: split_words(draft.sentences[at]) for at in draft.judged}
    contributions = await _contributions(ports, question, words, variants)
    queries = {
        each.label: [
            _query(
                *(question, draft, each),
                at=at,
                words=words[at],
                contributions=contributions[each.scorer, at]
                if each.scored
                else [None] * len(words[at]),
            )
            for at in words
        ]
        for each in variants
    }
    sent = [each.query for some in queries.values() for each in some if not each.refused]
    ranks = await _ranks(ports, question, sent)
    nothing = (0,) * len(question.supports)
    return QuestionRetrievals(
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
    variants: Sequence[FormulationVariant],
) -> Mapping[tuple[Control | None, int], Contributions]:
    """The contributions by scorer and sentence, as far as a formulation uses them."""
    found: dict[tuple[Control | None, int], Contributions] = {}
    for scorer in dict.fromkeys(each.scorer for each in variants if each.scored):
        for at, each in words.items():
            request = ScoreRequest(question.question, tuple(word.text for word in each))
            try:
                # One sentence per call, so that a refused one does not affect others.
                (contributions,) = await ports.scorers[scorer].score_contributions([request])
                found[scorer, at] = contributions
            except InvalidRequest as error:
                found[scorer, at] = error
    return found


def _query(
    question: Question,
    draft: Draft,
    variant: FormulationVariant,
    *,
    at: int,
    words: Sequence[Word],
    contributions: Contributions,
) -> Retrieval:
    """The query before its retrieval; no word is uncertain, since a draft has no probabilities."""
    if isinstance(contributions, InvalidRequest):
        return Retrieval(at, "", (), refused=contributions.message)
    judged = tuple(
        JudgedWord(word.text, word.start, word.end, None, 0.0, False, contribution)
        for word, contribution in zip(words, contributions, strict=True)
    )
    request = QueryRequest(
        question=question.question,
        settings=variant.query,
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
    for start in range(0, len(different), _BATCH):
        some = different[start : start + _BATCH]
        request = RetrieveRequest(some, top_k=CUTS[-1], index=ports.index)
        result = await ports.retriever.retrieve(request)
        if result.version != ports.index_version:
            raise ScaarError(f"the index {ports.index!r} changed during the run; run it again")
        for query, passages in zip(some, result.results, strict=True):
            at = {passage.id: passage.rank for passage in passages}
            found[query] = tuple(at.get(support, 0) for support in question.supports)
    return found
