"""Text from the events of an answer."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import overload

from scaar.core.types import AnswerEvent, SentenceAccepted


@overload
def accepted_text(events: AsyncIterable[AnswerEvent]) -> AsyncIterator[str]: ...
@overload
def accepted_text(events: Iterable[AnswerEvent]) -> Iterator[str]: ...
def accepted_text(
    events: AsyncIterable[AnswerEvent] | Iterable[AnswerEvent],
) -> AsyncIterator[str] | Iterator[str]:
    """Yield the text of each sentence once the sentence is accepted.

    The texts, concatenated, are :attr:`Answer.text`. Drafts are left out, because a sentence can be
    written again from passages. Takes the events of either client, and iterates them to their end.
    """
    if isinstance(events, AsyncIterable):
        return _accepted_text_async(events)
    return _accepted_text(events)


async def _accepted_text_async(events: AsyncIterable[AnswerEvent]) -> AsyncIterator[str]:
    async for event in events:
        if isinstance(event, SentenceAccepted):
            yield event.accepted.text


def _accepted_text(events: Iterable[AnswerEvent]) -> Iterator[str]:
    for event in events:
        if isinstance(event, SentenceAccepted):
            yield event.accepted.text
