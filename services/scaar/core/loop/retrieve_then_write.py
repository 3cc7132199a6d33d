"""A sentence, or a window of tokens, of a policy that always retrieves: retrieve, then write.

The query of the first unit is the question. Before every later unit, the model looks ahead: with
the current passages, it writes to the end of the sentence, without events. If that text concludes,
it is accepted without a retrieval. Otherwise the text is dropped, the policy retrieves, and the
model writes with the new passages.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.passage_retrieval import retrieve_passages
from scaar.core.loop.prompted_writing import Parts, merge_passages, write_with_passages
from scaar.core.loop.writer import Sentence
from scaar.core.text.sentence_counts import has_words
from scaar.core.text.sentences import SentenceSplitter
from scaar.core.types import AnswerEnd, AnswerEvent, Moment, RetrievedPassage


async def retrieve_then_write(state: AnswerState) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of the next sentence or window, up to its acceptance."""
    ahead = await _look_ahead(state) if state.accepted else None
    if ahead is not None and ahead.concluded and not ahead.rest.text:
        state.end_answer(AnswerEnd.ANSWER_PHRASE)
        return
    found: tuple[RetrievedPassage, ...] = ()
    if state.can_retrieve and not (ahead and (ahead.concluded or ahead.nothing_follows)):
        await state.writer.stop()
        async with aclosing(retrieve_passages(state)) as steps:
            async for step in steps:
                yield step
        found = state.found
    if found:
        state.put_into_prompt(merge_passages(state, found))
    elif ahead is not None:
        # No new passages: the text of the look-ahead is accepted.
        async for event in _accept_rest(state, ahead.rest, concluded=ahead.concluded):
            yield event
        return
    written = None
    async with aclosing(write_with_passages(state, lambda prompt: _unit(state, prompt))) as parts:
        async for part in parts:
            if isinstance(part, Sentence):
                written = part
            else:
                yield state.drafted(part)
    assert written is not None
    if ahead is not None and not written.text.strip():
        # If the model writes nothing with the passages, the text of the look-ahead is accepted.
        written = ahead.rest
    unit, concluded = _cut_after_conclusion(state, written)
    if unit.text:
        yield state.accept(unit, state.passages)
    state.end_after(unit, concluded=concluded)


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The rest of the next sentence, as the model continues it without new passages."""

    rest: Sentence
    concluded: bool

    @property
    def nothing_follows(self) -> bool:
        """Whether there is nothing to retrieve for: no text, or no word in it."""
        return not has_words(self.rest.text)


async def _look_ahead(state: AnswerState) -> _Ahead:
    partial = _partial_sentence(state)
    while True:
        rest = await _rest(state, partial)
        concluded = state.profile.concludes(partial + rest.text)
        if concluded or not partial or rest.text or rest.last:
            return _Ahead(rest, concluded)
        # The previous window ended with its sentence: the next sentence follows.
        partial = ""


async def _rest(state: AnswerState, partial: str) -> Sentence:
    stage = f"looking ahead to sentence {state.index}"
    rest = None
    writing = write_with_passages(
        state,
        lambda prompt: state.writer.sentence(prompt, state.so_far, stage=stage, partial=partial),
    )
    async with aclosing(writing) as parts:
        async for part in parts:
            if isinstance(part, Sentence):
                rest = part
    assert rest is not None
    return rest


def _partial_sentence(state: AnswerState) -> str:
    """Return the incomplete sentence at the end of the last window; empty if there is none."""
    if Moment.BEFORE_WINDOW not in state.policy.moments:
        return ""
    splitter = SentenceSplitter()
    splitter.feed(state.so_far.text)
    return splitter.pending


def _unit(state: AnswerState, prompt: str) -> Parts:
    writer, so_far, index = state.writer, state.so_far, state.index
    if Moment.BEFORE_WINDOW in state.policy.moments:
        length = state.policy.window_tokens
        return writer.window(prompt, so_far, stage=f"writing window {index}", length=length)
    return writer.sentence(prompt, so_far, stage=f"writing sentence {index}")


def _cut_after_conclusion(state: AnswerState, unit: Sentence) -> tuple[Sentence, bool]:
    """Return the unit up to its concluding sentence, and whether that sentence is complete."""
    if Moment.BEFORE_SENTENCE in state.policy.moments:
        return unit, state.profile.concludes(unit.text)
    partial, end = _partial_sentence(state), 0
    so_far = state.so_far.text
    splitter = SentenceSplitter(so_far[: len(so_far) - len(partial)])
    for sentence in splitter.feed(partial + unit.text):
        end += len(sentence)
        if state.profile.concludes(sentence):
            return unit.up_to(end - len(partial)), True
    return unit, unit.last and state.profile.concludes(splitter.pending)


async def _accept_rest(
    state: AnswerState, sentence: Sentence, *, concluded: bool
) -> AsyncGenerator[AnswerEvent, None]:
    for token in sentence.tokens:
        yield state.drafted(token)
    if sentence.text:
        yield state.accept(sentence, state.passages, concluding=concluded)
    state.end_after(sentence, concluded=concluded)
