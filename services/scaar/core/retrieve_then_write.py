"""A sentence, or a window of tokens, of a policy that always retrieves: look up, then write.

For the first one the query is the question. Before every later one the model writes on from the
passages it has, unseen, to the end of the sentence: if that concludes, it stands and nothing is
looked up for it; else it is dropped, and the policy looks up and has the model write from what
it found.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from scaar.core.answering import Answering, Parts
from scaar.core.sentences import SentenceSplitter
from scaar.core.types import AnswerEnd, AnswerEvent, PassagesRetrieved, RetrievedPassage, When
from scaar.core.writer import Sentence


async def retrieve_then_write(answering: Answering) -> AsyncGenerator[AnswerEvent, None]:
    """The events of the next sentence or window, to its acceptance."""
    ahead = await _looked_ahead(answering) if answering.accepted else None
    if ahead is not None and ahead.concluded and not ahead.rest.text:
        answering.end = AnswerEnd.ANSWER_PHRASE
        return
    found = None
    if answering.can_look_up and not (ahead and (ahead.concluded or ahead.nothing_follows)):
        await answering.writer.stop()
        async with aclosing(answering.look_up()) as steps:
            async for step in steps:
                yield step
                found = step if isinstance(step, PassagesRetrieved) else None
    if found is not None and found.passages:
        answering.passages = _standing(answering, found.passages)
    elif ahead is not None:
        # Nothing new to write from: what was written ahead stands.
        async for event in _accepted(answering, ahead.rest, concluded=ahead.concluded):
            yield event
        return
    written = None
    async with aclosing(answering.write_on(lambda prompt: _unit(answering, prompt))) as parts:
        async for part in parts:
            if isinstance(part, Sentence):
                written = part
            else:
                yield answering.drafted(part)
    assert written is not None
    if ahead is not None and not written.text.strip():
        # A model that has nothing to say from the passages leaves what it wrote before.
        written = ahead.rest
    unit, concluded = _to_the_conclusion(answering, written)
    if unit.text:
        yield answering.accept(unit, answering.passages)
    answering.end = answering.ended(unit, concluded=concluded)


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The rest of the sentence that is next, as the model goes on by itself."""

    rest: Sentence
    concluded: bool

    @property
    def nothing_follows(self) -> bool:
        return not self.rest.text.strip()


async def _looked_ahead(answering: Answering) -> _Ahead:
    begun = _begun(answering)
    while True:
        rest = await _rest(answering, begun)
        concluded = answering.profile.concludes(begun + rest.text)
        if concluded or not begun or rest.text or rest.last:
            return _Ahead(rest, concluded)
        # The window before ended with its sentence: what follows is the next one.
        begun = ""


async def _rest(answering: Answering, begun: str) -> Sentence:
    stage = f"looking ahead to sentence {answering.index}"
    rest = None
    writing = answering.write_on(
        lambda prompt: answering.writer.sentence(prompt, answering.so_far, stage=stage, begun=begun)
    )
    async with aclosing(writing) as parts:
        async for part in parts:
            if isinstance(part, Sentence):
                rest = part
    assert rest is not None
    return rest


def _begun(answering: Answering) -> str:
    """The part of a sentence that the last window ended with."""
    if answering.policy.when is not When.EVERY_WINDOW:
        return ""
    splitter = SentenceSplitter()
    splitter.feed(answering.so_far.text)
    return splitter.pending


def _unit(answering: Answering, prompt: str) -> Parts:
    writer, so_far, index = answering.writer, answering.so_far, answering.index
    if answering.policy.when is When.EVERY_WINDOW:
        length = answering.policy.window_tokens
        return writer.window(prompt, so_far, stage=f"writing window {index}", length=length)
    return writer.sentence(prompt, so_far, stage=f"writing sentence {index}")


def _to_the_conclusion(answering: Answering, unit: Sentence) -> tuple[Sentence, bool]:
    """The unit without what follows its concluding sentence, and whether it holds that whole."""
    if answering.policy.when is When.EVERY_SENTENCE:
        return unit, answering.profile.concludes(unit.text)
    begun, end = _begun(answering), 0
    splitter = SentenceSplitter()
    for sentence in splitter.feed(begun + unit.text):
        end += len(sentence)
        if answering.profile.concludes(sentence):
            return unit.up_to(end - len(begun)), True
    return unit, unit.last and answering.profile.concludes(splitter.pending)


def _standing(
    answering: Answering, found: tuple[RetrievedPassage, ...]
) -> tuple[RetrievedPassage, ...]:
    """What stands in the prompt now: what was found, after what accumulated before."""
    most = answering.policy.max_passages
    if not most:
        return found
    newest = found[:most]
    again = {passage.id for passage in newest}
    older = [passage for passage in answering.passages if passage.id not in again]
    room = most - len(newest)
    return (*older[len(older) - min(room, len(older)) :], *newest)


async def _accepted(
    answering: Answering, sentence: Sentence, *, concluded: bool
) -> AsyncGenerator[AnswerEvent, None]:
    for token in sentence.tokens:
        yield answering.drafted(token)
    if sentence.text:
        yield answering.accept(sentence, answering.passages, concluding=concluded)
    answering.end = answering.ended(sentence, concluded=concluded)
