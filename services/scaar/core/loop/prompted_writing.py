"""Writing with passages in the prompt, as many of them as fit."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from scaar.core.errors import PromptTooLong
from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.writer import SENTENCE_MAX_TOKENS, Part, Sentence, Writing
from scaar.core.types import RetrievedPassage, SentenceAccepted

CONCLUSION_MAX_TOKENS = 20
"""Maximum number of tokens of a conclusion that the model is made to write."""

Parts = AsyncGenerator[Part, None]


async def write_with_passages(state: AnswerState, write: Callable[[str], Parts]) -> Parts:
    """Yield what the model writes with as many of the passages as fit into the prompt."""
    while True:
        prompt = state.profile.render(state.request.question, state.passages)
        try:
            async with aclosing(write(prompt)) as parts:
                async for part in parts:
                    yield part
            return
        except PromptTooLong:
            if len(state.passages) <= 1:
                raise
            await state.writer.stop()
            # Drop the oldest of accumulated passages, else the worst.
            oldest = state.policy.max_passages > 0
            state.put_into_prompt(state.passages[1:] if oldest else state.passages[:-1])


def merge_passages(
    state: AnswerState, found: tuple[RetrievedPassage, ...]
) -> tuple[RetrievedPassage, ...]:
    """Return the passages of the prompt: the new ones, after those accumulated before."""
    max_passages = state.policy.max_passages
    if not max_passages:
        return found
    newest = found[:max_passages]
    again = {passage.id for passage in newest}
    older = [passage for passage in state.passages if passage.id not in again]
    room = max_passages - len(newest)
    return (*older[len(older) - min(room, len(older)) :], *newest)


async def regenerate(
    state: AnswerState,
    passages: tuple[RetrievedPassage, ...],
    *,
    prefix: Sentence | None = None,
) -> tuple[Sentence, tuple[RetrievedPassage, ...]]:
    """Return the sentence written with passages, and the passages that fit into the prompt.

    The sentence continues its ``prefix``, if there is one. It is empty if the model writes nothing.
    """
    stage = f"writing sentence {state.index} again"
    max_tokens = min(SENTENCE_MAX_TOKENS, state.budget.remaining_tokens)
    while True:
        prompt = state.profile.render(state.request.question, passages)
        try:
            again = await state.writer.write(
                prompt, state.so_far, stage=stage, max_tokens=max_tokens, prefix=prefix
            )
            if prefix is not None and again.text.strip():
                again = prefix.then(again)
            return again, passages
        except PromptTooLong:
            if len(passages) == 1:
                raise
            passages = passages[:-1]


async def conclude(state: AnswerState) -> SentenceAccepted:
    """Make the model conclude: append the answer phrase and its continuation."""
    await state.writer.stop()
    phrase = state.profile.forcing_phrase
    prompt = state.profile.render(state.request.question, state.passages)
    forced = Writing(text=state.so_far.text + phrase, token_ids=None)
    written = await state.writer.write(
        prompt, forced, stage="concluding", max_tokens=CONCLUSION_MAX_TOKENS
    )
    conclusion = Sentence(phrase, (), None, last=True).then(replace(written, last=True))
    return state.accept(conclusion, state.passages, concluding=True)
