"""The limits of the material of a query, which a model may exceed."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from scaar.core.types import QueryRequest

MAX_WORDS = 1_024
MAX_WORD_CHARACTERS = 8_000
MAX_SENTENCES = 1_024
MAX_ACCEPTED_CHARACTERS = 131_072
MAX_TOKENS = 1_024
MAX_TOKEN_CHARACTERS = 1_024
MAX_ATTENDED_WORDS = 16_384
MAX_PASSAGE_CHARACTERS = 32_768


def within_limits(request: QueryRequest) -> QueryRequest:
    """Return the request with what a query builder takes of texts that a model wrote.

    These are the first words of the draft, the newest sentences, tokens and attended words, and the
    beginnings of long words and of a long passage.
    """
    return replace(
        request,
        words=tuple(
            replace(word, text=word.text[:MAX_WORD_CHARACTERS])
            for word in request.words[:MAX_WORDS]
        ),
        accepted=_newest(request.accepted),
        recent_tokens=tuple(
            text[:MAX_TOKEN_CHARACTERS] for text in request.recent_tokens[-MAX_TOKENS:]
        ),
        attended=tuple(
            replace(word, text=word.text[:MAX_WORD_CHARACTERS])
            for word in request.attended[-MAX_ATTENDED_WORDS:]
        ),
        passage=request.passage[:MAX_PASSAGE_CHARACTERS],
    )


def _newest(sentences: Sequence[str]) -> tuple[str, ...]:
    """Return the last sentences that are not too long together, or the end of the last one."""
    lengths = accumulate(len(sentence) for sentence in reversed(sentences))
    count = sum(length <= MAX_ACCEPTED_CHARACTERS for length in lengths)
    if count == 0 and sentences:
        return (sentences[-1][-MAX_ACCEPTED_CHARACTERS:],)
    return tuple(sentences[len(sentences) - min(count, MAX_SENTENCES) :])
