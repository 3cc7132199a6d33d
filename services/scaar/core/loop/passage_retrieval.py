"""A retrieval of an answer: its query, its passages, and the sentences of them that are read."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from functools import partial

from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.budget import Part
from scaar.core.loop.judge import Judged
from scaar.core.prompts.pseudo_passage import passage_prompt
from scaar.core.queries import FORMULATIONS
from scaar.core.queries.draft_words import masked_words, without_contributions
from scaar.core.queries.request_limits import within_limits
from scaar.core.text.fusion import depth_of, fuse_by
from scaar.core.text.sentence_counts import has_words
from scaar.core.text.sentences import split_sentences
from scaar.core.types import (
    Fusion,
    Moment,
    PassagesFiltered,
    PassagesRetrieved,
    Query,
    QueryBuilt,
    QueryRequest,
    QuerySettings,
    ReadPassage,
    Rerank,
    RerankSettings,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
    SearchMode,
    SentenceFilter,
)
from scaar.core.types.retrieval import MAX_QUERY_CHARACTERS

Retrieved = QueryBuilt | PassagesRetrieved | PassagesFiltered
"""An event of a retrieval."""
PASSAGE_MAX_TOKENS = 256
"""Maximum number of tokens of a passage that the model writes as a query."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A further search of a retrieval, of which some passages are selected.

    The search is of ``depth`` passages, by the index's order alone.
    """

    depth: int
    select: Callable[[tuple[RetrievedPassage, ...]], tuple[RetrievedPassage, ...]]


async def retrieve_passages(
    state: AnswerState,
    judged: Judged | None = None,
    *,
    sentence: int | None = None,
    query: Query | None = None,
    selection: Selection | None = None,
) -> AsyncGenerator[Retrieved, None]:
    """Yield the query, the passages, and which of their sentences a sentence filter keeps.

    Stop early, degraded, if a failure is accepted. Afterwards, :attr:`AnswerState.found` has the
    passages. ``sentence`` is the one for which passages are retrieved; the default is the current
    one. The ``query`` is that of the policy, if none is given. With a ``selection``, this is a
    further search of the last retrieval.
    """
    state.found = ()
    sentence = state.index if sentence is None else sentence
    if query is None:
        stage = f"building the query for sentence {sentence}"
        query = await state.or_degraded(partial(_build_query, state, judged, stage), stage)
    if query is None:
        return
    yield QueryBuilt(sentence, query)
    stage = f"retrieving for sentence {sentence}"
    if selection is None:
        state.budget.count_retrieval(searches=2 if query.fused_with else 1)
    else:
        state.budget.count_search()
    request = _request_of(state, query, selection)
    found = await state.or_degraded(partial(_retrieve, state, request, stage), stage)
    if found is None:
        return
    passages = found.results[0]
    if selection is not None:
        passages = selection.select(passages)
    elif query.fused_with:
        passages = fuse_by(state.policy.fusion, found.results, state.policy.top_k)
    yield PassagesRetrieved(sentence, found.index, found.version, passages, state.excluded_ids)
    if passages and state.policy.sentence_filter is SentenceFilter.LEARNED:
        assert state.sentence_filter is not None
        # A query of the answer so far asks for what the question does not name.
        asked = f"{state.search_question} {query.text}"
        filtered, passages = state.sentence_filter.filter(sentence, asked, passages)
        yield filtered
    state.found = passages


async def _build_query(state: AnswerState, judged: Judged | None, stage: str) -> Query:
    settings = state.policy.query
    if not judged and not state.accepted:
        settings = _question_only(settings)
    if judged is not None and judged.unscored:
        settings = without_contributions(settings)
    passage, rule = "", FORMULATIONS[settings.formulation]
    if rule.uses_passage:
        passage = await _write_passage(state)
    read = state.read_passages if rule.uses_read_passages else ()
    request = QueryRequest(
        question=state.search_question,
        settings=settings,
        words=masked_words(judged.judgement.words, state.policy.mask_below) if judged else (),
        accepted=_accepted_sentences(state),
        recent_tokens=tuple(state.so_far.token_texts[-settings.last_n_tokens :]),
        attended=judged.attended if judged else (),
        passage=passage,
        read=ReadPassage.newest(read),
    )
    async with state.budget.within(stage):
        return await state.ports.query_builder.build_query(within_limits(request))


def _question_only(settings: QuerySettings) -> QuerySettings:
    """Return the settings of a query before the first sentence: the question."""
    return replace(settings, formulation="question", include_question=False)


async def _write_passage(state: AnswerState) -> str:
    """Return a passage that the model writes for the question.

    It leaves as many tokens as the answer has, which may be written again; empty if there are no
    others.
    """
    most = state.budget.remaining_tokens - len(state.so_far.token_texts)
    if most <= 0:
        return ""
    written = await state.writer.passage(
        passage_prompt(state.search_question),
        stage="writing a passage for the query",
        max_tokens=min(PASSAGE_MAX_TOKENS, most),
    )
    return written.text


def _accepted_sentences(state: AnswerState) -> tuple[str, ...]:
    if Moment.BEFORE_WINDOW in state.policy.moments:
        sentences = split_sentences(state.so_far.text)
    else:
        sentences = tuple(sentence.text for sentence in state.accepted)
    # A code fence is no last sentence to search for.
    return tuple(filter(has_words, sentences))


def _request_of(state: AnswerState, query: Query, selection: Selection | None) -> RetrieveRequest:
    policy = state.policy
    queries: tuple[str, ...] = (query.text[:MAX_QUERY_CHARACTERS],)
    top_k, score_all, mode = policy.top_k, False, policy.search_mode
    reranks = policy.rerank is Rerank.CROSS_ENCODER
    if selection is not None:
        top_k, reranks = selection.depth, False
    elif query.fused_with:
        queries = (*queries, query.fused_with[:MAX_QUERY_CHARACTERS])
        top_k = depth_of(policy.fusion, top_k)
        score_all = policy.fusion is not Fusion.RANK
        mode = SearchMode.VECTORS if score_all else mode
    return RetrieveRequest(
        queries,
        top_k,
        state.request.index,
        state.request.filters,
        state.excluded_ids,
        score_all=score_all,
        mode=mode,
        rerank=RerankSettings(policy.rerank_depth) if reranks else None,
    )


async def _retrieve(state: AnswerState, request: RetrieveRequest, stage: str) -> RetrieveResult:
    async with state.budget.within(stage, Part.RETRIEVAL):
        return await state.ports.retriever.retrieve(request)
