"""The searches before the first sentence, of a policy that retrieves then.

With ``first_search=mentions``, the passages are the best one for the question; then, one by one,
passages whose title the question or a passage chosen before mentions; then the next ones for the
question. A passage that is mentioned is the best one, by the query of
:mod:`scaar.core.queries.next_hop`, among the first ``MENTION_DEPTH``. Where nothing is mentioned,
as in texts without titles, the passages are those of one search. The model is given no more of
them, and writes no token before all searches are made.

The rule is the project's own. Questions of several hops need a passage that only another passage
names (HotpotQA, Yang et al., EMNLP 2018); docs/policies.md has what it finds.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial

from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.passage_retrieval import Retrieved, Selection, retrieve_passages
from scaar.core.text.mentions import Mentions
from scaar.core.types import (
    FirstSearch,
    Moment,
    Query,
    QueryRequest,
    QuerySettings,
    ReadPassage,
    RetrievedPassage,
)

MENTION_DEPTH = 30
"""Number of passages of a search among which one that is mentioned is looked for."""
_NEXT_HOP = QuerySettings("next_hop", include_question=False, max_words=128)


async def search_first(state: AnswerState) -> AsyncGenerator[Retrieved, None]:
    """Yield the searches before the first sentence; their passages are put into the prompt."""
    # The query of a policy that judges drafts is made of a draft.
    judges = Moment.UNCERTAIN_DRAFT in state.policy.moments
    query = Query(state.search_question, "question") if judges else None
    async with aclosing(retrieve_passages(state, query=query)) as steps:
        async for step in steps:
            yield step
    if state.policy.first_search is FirstSearch.MENTIONS:
        async with aclosing(_follow_mentions(state, state.found)) as steps:
            async for step in steps:
                yield step
    state.put_into_prompt(state.found)


async def _follow_mentions(
    state: AnswerState, by_question: tuple[RetrievedPassage, ...]
) -> AsyncGenerator[Retrieved, None]:
    """Yield the searches after that of the question. Afterwards, the state has all passages."""
    chosen = by_question[:1]
    while chosen and len(chosen) < state.policy.top_k:
        query = await _next_query(state, chosen)
        if query is None or query.fell_back:
            break
        mentions = Mentions(state.search_question, [passage.text for passage in chosen])
        selection = Selection(MENTION_DEPTH, partial(_select, mentions, chosen))
        async with aclosing(retrieve_passages(state, query=query, selection=selection)) as steps:
            async for step in steps:
                yield step
        if not state.found:
            break
        chosen += state.found
    ids = {passage.id for passage in chosen}
    rest = tuple(passage for passage in by_question if passage.id not in ids)
    state.found = (chosen + rest)[: state.policy.top_k]


async def _next_query(state: AnswerState, chosen: Sequence[RetrievedPassage]) -> Query | None:
    read = ReadPassage.newest(chosen)
    request = QueryRequest(state.search_question, _NEXT_HOP, read=read)
    stage = "building the query for the next passage"

    async def build() -> Query:
        async with state.budget.within(stage):
            return await state.ports.query_builder.build_query(request)

    return await state.or_degraded(build, stage)


def _select(
    mentions: Mentions,
    chosen: Sequence[RetrievedPassage],
    found: tuple[RetrievedPassage, ...],
) -> tuple[RetrievedPassage, ...]:
    """Return the first passage found that is mentioned and not chosen; none if there is none."""
    ids = {passage.id for passage in chosen}
    for passage in found:
        if passage.id not in ids and mentions.have(passage.title):
            return (passage,)
    return ()
