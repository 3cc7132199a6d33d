"""Validation of requests to score words, before any work."""

import re
from collections.abc import Sequence

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import ScoreRequest
from scaar.core.types.scoring import (
    MAX_CHARACTERS_OF_SCORING,
    MAX_SCORED_CHARACTERS,
    MAX_SCORED_WORDS,
    MAX_WORDS_OF_SCORING,
)

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_requests(requests: Sequence[ScoreRequest]) -> None:
    """Validate requests, except for their length in tokens.

    Raises:
        InvalidRequest: naming every invalid field and its limit.
    """
    wrong = _check_number(requests)
    for number, request in enumerate(requests):
        at = f"sentences[{number}]"
        if not request.question.strip():
            wrong.append(Violation(f"{at}.question", "must not be empty"))
        elif (length := len(request.question)) > MAX_SCORED_CHARACTERS:
            wrong.append(Violation(f"{at}.question", _too_long(length)))
        elif not _is_unicode(request.question):
            wrong.append(Violation(f"{at}.question", "contains an unpaired surrogate"))
        wrong += _check_words(f"{at}.words", request.words)
    if wrong:
        raise InvalidRequest(wrong)


def _check_number(requests: Sequence[ScoreRequest]) -> list[Violation]:
    words = sum(len(request.words) for request in requests)
    if words > MAX_WORDS_OF_SCORING:
        limit = f"must have at most {MAX_WORDS_OF_SCORING} words together, not {words}"
        return [Violation("sentences", limit)]
    characters = sum(len(each.question) + sum(map(len, each.words)) for each in requests)
    if characters > MAX_CHARACTERS_OF_SCORING:
        limit = f"must have at most {MAX_CHARACTERS_OF_SCORING:,} characters together"
        return [Violation("sentences", f"{limit}, not {characters:,}")]
    return []


def _check_words(field: str, words: Sequence[str]) -> list[Violation]:
    if not 1 <= len(words) <= MAX_SCORED_WORDS:
        return [Violation(field, f"must be 1 to {MAX_SCORED_WORDS} words, not {len(words)}")]
    if (length := sum(len(word) + 1 for word in words) - 1) > MAX_SCORED_CHARACTERS:
        return [Violation(field, _too_long(length))]
    for position, word in enumerate(words):
        if word.split() != [word]:
            limit = f"must be words without white space, not {word!r} at {position}"
            return [Violation(field, limit)]
        if not _is_unicode(word):
            return [Violation(field, f"contains an unpaired surrogate at word {position}")]
    return []


def _too_long(characters: int) -> str:
    return f"must have at most {MAX_SCORED_CHARACTERS:,} characters, not {characters:,}"


def _is_unicode(text: str) -> bool:
    return _SURROGATE.search(text) is None
