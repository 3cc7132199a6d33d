"""Queries for the sentences of a draft, built and sent to the retriever question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.ports import ContributionScorer, Retriever
from scaar.core.queries import build_query
from scaar.core.text.words import split_words
from scaar.core.types import JudgedWord, QueryRequest, ScoreRequest, Word
from scaar.evaluator.records import Question
from scaar.evaluator.studies.queries.drafts import Draft
from scaar.evaluator.studies.queries.formulations import FormulationVariant
from scaar.evaluator.studies.queries.reading import Searches, depth_for, read_answer
from scaar.evaluator.studies.queries.records import QuestionRetrievals, Retrieval

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
    answers = {label: [each.queries for each in some] for label, some in planned.items()}
    searches = Searches(ports.retriever, ports.index, ports.index_version)
    await searches.prepare(
        (query for some in answers.values() for queries in some for query in queries),
        depth=max(depth_for(answers[each.label], each) for each in variants),
    )
    read = {
        each.label: await read_answer(searches, answers[each.label], each, question.supports)
        for each in variants
    }
    return QuestionRetrievals(
        question.id,
        {
            label: tuple(
                replace(each, readings=readings)
                for each, readings in zip(some, read[label], strict=True)
            )
            for label, some in planned.items()
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
    query = build_query(request)
    return Retrieval(at, query.text, (), query.fused_with)
