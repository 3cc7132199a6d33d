"""Queries for the sentences of a draft, built and sent to the retriever question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.ports import ContributionScorer, Retriever
from scaar.core.queries import build_query
from scaar.core.text.words import split_words
from scaar.core.types import (
    JudgedWord,
    QueryRequest,
    ReadPassage,
    ScoreRequest,
    Word,
)
from scaar.evaluator.records import Question
from scaar.evaluator.studies.queries.drafts import Draft
from scaar.evaluator.studies.queries.formulations import FormulationVariant
from scaar.evaluator.studies.queries.reading import Queries, Searches, depth_for, read_answer
from scaar.evaluator.studies.queries.records import (
    CUTS,
    MIDDLE,
    QuestionRetrievals,
    Retrieval,
)

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
    """Return the retrievals of every formulation for every sentence; equal searches are sent once.

    Raises:
        ScaarError: the scorer or the retriever fails.
    """
    words = {at: split_words(draft.sentences[at]) for at in draft.judged}
    contributions = await _contributions(ports, question, words, variants)
    planned = {
        each.label: [
            _plan(
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
    depth = max(depth_for(len(words), each) for each in variants)
    searches = Searches(ports.retriever, ports.index, ports.index_version, depth=depth)
    await searches.prepare(
        query for some in planned.values() for each in some for query in each.queries(())
    )
    return QuestionRetrievals(
        question.id,
        {
            each.label: await _retrievals(searches, planned[each.label], each, question.supports)
            for each in variants
        },
    )


async def _retrievals(
    searches: Searches,
    planned: Sequence["_Planned"],
    variant: FormulationVariant,
    supports: Sequence[str],
) -> tuple[Retrieval, ...]:
    read = await read_answer(searches, [each.queries for each in planned], variant, supports)
    found = []
    for plan, by_cut in zip(planned, read, strict=True):
        query, fused_with, *_ = (*by_cut[CUTS.index(MIDDLE)][0], "", "")
        readings = tuple(reading for _, reading in by_cut)
        found.append(Retrieval(plan.sentence, query, readings, fused_with, plan.refused))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Planned:
    """A retrieval; without a request, because the scorer ``refused`` the sentence."""

    sentence: int
    request: QueryRequest | None
    refused: str = ""

    def queries(self, read: Sequence[ReadPassage]) -> Queries:
        """Return the queries after these passages were read."""
        if self.request is None:
            return ()
        query = build_query(replace(self.request, read=tuple(read)))
        return (query.text, query.fused_with) if query.fused_with else (query.text,)


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


def _plan(
    question: Question,
    draft: Draft,
    variant: FormulationVariant,
    *,
    at: int,
    words: Sequence[Word],
    contributions: Contributions,
) -> _Planned:
    """Return the retrieval; no word is uncertain, since a draft has no probabilities."""
    if isinstance(contributions, InvalidRequest):
        return _Planned(at, None, contributions.message)
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
    return _Planned(at, request)
