"""The rounds of a policy that retrieves after the answer (ITER-RETGEN, Shao et al. 2023).

The answer of a round is a draft. The next round retrieves for the draft, discards it, and writes
the answer again. The answer of the last round is accepted sentence by sentence, as under every
other policy.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from scaar.core.loop.answer_state import AnswerState
from scaar.core.types import AnswerDrafted, AnswerEvent, PassagesRetrieved, SentenceAccepted

Write = Callable[[AnswerState], AsyncGenerator[AnswerEvent, None]]


async def write_rounds(state: AnswerState, write: Write) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of every round; ``write`` yields those of one answer, up to its end.

    A draft is accepted if nothing is found for it, or if the budget has no retrieval, or fewer
    tokens than the draft has, so that the next round would be cut.
    """
    for number in range(1, state.rounds):
        if not state.can_retrieve:
            break
        drafted = list[SentenceAccepted]()
        async with aclosing(write(state)) as events:
            async for event in events:
                if isinstance(event, SentenceAccepted):
                    drafted.append(event)
                else:
                    yield event
        await state.writer.stop()
        found = None
        if state.can_retrieve and state.budget.remaining_tokens >= len(state.so_far.token_texts):
            yield AnswerDrafted(number, state.so_far.text)
            async with aclosing(state.retrieve_passages(sentence=0)) as steps:
                async for step in steps:
                    yield step
                    found = step if isinstance(step, PassagesRetrieved) else None
        if found is None or not found.passages:
            for each in drafted:
                yield state.accept_drafted(each)
            return
        state.discard_answer()
        state.put_into_prompt(found.passages)
    async with aclosing(write(state)) as events:
        async for event in events:
            yield event
