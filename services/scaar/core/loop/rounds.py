"""The rounds of a policy that retrieves after the answer (ITER-RETGEN, Shao et al. 2023).

The answer of a round is a draft. The next round retrieves for the draft, discards it, and writes
the answer again. The answer of the last round is accepted sentence by sentence, as under every
other policy. A policy with a trigger judges the draft as a whole, and accepts a certain one (DTR,
Chen et al., arXiv 2601.03908). If its trigger withholds, an answer that is uncertain in the last
round too is accepted, but not given.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial

from scaar.core.evidence import Draft, Sources
from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.judge import judge
from scaar.core.loop.passage_retrieval import retrieve_passages
from scaar.core.loop.prompted_writing import merge_passages
from scaar.core.loop.writer import Writing
from scaar.core.text.sentence_counts import has_words
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    AnswerDrafted,
    AnswerEvent,
    RetrievedPassage,
    SentenceAccepted,
    SentenceJudged,
)

Write = Callable[[AnswerState], AsyncGenerator[AnswerEvent, None]]


async def write_rounds(state: AnswerState, write: Write) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of every round; ``write`` yields those of one answer, up to its end.

    A draft is accepted if the trigger finds it certain, if nothing is found for it, or if the
    budget has no retrieval, or fewer tokens than the draft has, so that the next round would be
    cut. Without a retrieval there is no draft, except for a trigger to judge. The answer of a
    policy that withholds is judged in the last round too.
    """
    rounds, withholds = state.plan.rounds, _withholds(state)
    for number in range(1, rounds + withholds):
        if not state.can_retrieve and state.policy.trigger is None:
            break
        drafted = list[SentenceAccepted]()
        async with aclosing(write(state)) as events:
            async for event in events:
                if isinstance(event, SentenceAccepted):
                    drafted.append(event)
                else:
                    yield event
        await state.writer.stop()
        found: tuple[RetrievedPassage, ...] = ()
        retrieving = (
            number < rounds
            and state.can_retrieve
            and state.budget.remaining_tokens >= len(state.so_far.token_texts)
        )
        judged = None
        if state.policy.trigger is not None:
            judged = await _judged(state, retrieving=retrieving)
            if judged is not None:
                yield judged
            retrieving = judged is not None and judged.retrieving
        if retrieving:
            yield AnswerDrafted(number, state.so_far.text)
            async with aclosing(retrieve_passages(state, sentence=0)) as steps:
                async for step in steps:
                    yield step
            found = state.found
        if not found:
            if withholds and judged is not None and judged.trigger is not None:
                state.withhold()
            for each in drafted:
                yield state.accept_drafted(each)
            return
        passages = merge_passages(state, found)
        state.discard_answer()
        state.put_into_prompt(passages)
    async with aclosing(write(state)) as events:
        async for event in events:
            yield event


def _withholds(state: AnswerState) -> bool:
    """Return whether an answer that stays uncertain is not given."""
    trigger, rounds = state.policy.trigger, state.plan.rounds
    return trigger is not None and rounds > 1 and TRIGGERS[trigger].withholds


async def _judged(state: AnswerState, *, retrieving: bool) -> SentenceJudged | None:
    """Return the judgement of the whole answer; None if it has no words, or judging failed.

    ``retrieving`` is whether passages can be retrieved for it.
    """
    whole, stage = state.whole, "judging the answer"
    if whole is None or not has_words(whole.text):
        return None
    draft = Draft(
        state.search_question,
        state.profile.render(state.request.question, state.passages),
        Writing(),
        whole,
        state.policy.granularity,
        passages_read=state.has_read_passages,
        passages=state.passages,
        message=state.request.question,
    )
    sources = Sources(state.ports.generator, state.ports.scorer, state.budget, stage)
    judged = await state.or_degraded(partial(judge, draft, state.policy, sources), stage)
    if judged is None:
        return None
    if judged.unscored:
        state.budget.count_unscored()
    judgement = judged.judgement
    # A model that does not know the answer may find it in further passages.
    abstains = state.abstains and _withholds(state)
    return SentenceJudged(
        sentence=0,
        text=whole.text,
        words=judgement.words,
        trigger=None if abstains else judgement.trigger,
        retrieving=retrieving and (abstains or judgement.trigger is not None),
        score=judgement.score,
        signals=judgement.signals,
        without_contributions=judged.unscored,
        abstains=abstains,
    )
