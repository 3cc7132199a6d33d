"""Validation of requests, before any work."""

from collections.abc import Mapping, Sequence

from scaar.core.errors import CapabilityMissing, InvalidRequest, PromptTooLong, Violation
from scaar.core.types import AttendRequest, AttentionKind, GenerateRequest

MAX_NEW_TOKENS = 1024
MAX_STOP_STRINGS = 16
MAX_STOP_CHARACTERS = 256
MAX_TOP_TOKENS = 20
MAX_WEIGHTS = 1_500_000
"""Weights of an attention: 12 MB, close to the maximum size of a message."""


def check_generate(
    request: GenerateRequest,
    *,
    vocabulary: int,
    max_top_tokens: int = MAX_TOP_TOKENS,
    gives_attention: bool = False,
) -> None:
    """Validate a generation request, except for its length in tokens.

    Raises:
        InvalidRequest: naming every invalid field and its limit.
        CapabilityMissing: attention is requested, and the engine gives none.
    """
    wrong = [
        *_check_text("prompt", request.prompt),
        *_check_text("prefix", request.prefix),
        *_check_ids("prefix_token_ids", request.prefix_token_ids, vocabulary),
        *_check_range("max_tokens", request.max_tokens, 1, MAX_NEW_TOKENS),
        *_check_stop(request.stop),
        *_check_range("top_tokens", request.top_tokens, 0, max_top_tokens),
    ]
    if not request.prompt and not request.prefix:
        wrong.append(Violation("prompt", "must not be empty if prefix is empty"))
    if wrong:
        raise InvalidRequest(wrong)
    if request.attention and not gives_attention:
        raise CapabilityMissing("attention is requested, but this engine gives none")


def check_attend(request: AttendRequest, *, vocabulary: int) -> None:
    """Validate an attention request, except for its length in tokens.

    Raises:
        InvalidRequest: naming every invalid field and its limit.
    """
    wrong = [
        *_check_text("prompt", request.prompt),
        *_check_text("text", request.text),
        *_check_ids("text_token_ids", request.text_token_ids, vocabulary),
    ]
    if not request.text:
        wrong.append(Violation("text", "must not be empty"))
    if request.ended and request.attention is not AttentionKind.MAX_THEN_MEAN:
        wrong.append(Violation("ended", f"needs the attention {AttentionKind.MAX_THEN_MEAN}"))
    if wrong:
        raise InvalidRequest(wrong)


def check_size(
    texts: Mapping[str, str],
    ids: Mapping[str, Sequence[int]],
    *,
    max_tokens: int,
    characters_per_token: int,
) -> None:
    """Check, without tokenizing, that texts and ids can fit a context of ``max_tokens``.

    ``texts`` and ``ids`` are fields by name. The texts share the context.

    Raises:
        PromptTooLong: naming the longest text or the ids, the limit and the size.
    """
    limit, given = max_tokens * characters_per_token, sum(map(len, texts.values()))
    context = f"the model's context has {max_tokens:,} tokens"
    if given > limit:
        longest = max(texts, key=lambda field: len(texts[field]))
        others = " and ".join(field for field in texts if field != longest)
        text = f"must be at most {limit:,} characters together with {others}, not {given:,}"
        raise PromptTooLong.of(longest, f"{text}: {context}")
    for field, each in ids.items():
        if len(each) > max_tokens:
            text = f"must be at most {max_tokens:,} ids, not {len(each):,}"
            raise PromptTooLong.of(field, f"{text}: {context}")


def check_room(field: str, tokens: int, limit: int) -> None:
    """Check that a text fits the model's context.

    Raises:
        PromptTooLong: naming the field and the limit.
    """
    if tokens > limit:
        raise PromptTooLong.of(
            field, f"must be at most {limit} tokens including what follows it, not {tokens}"
        )


def check_weights(prompt_tokens: int, tokens: int) -> None:
    """Check that the attention of a text fits a message; ``tokens`` counts prompt and text.

    Raises:
        PromptTooLong: naming the limit.
    """
    weights = (tokens * (tokens + 1) - prompt_tokens * (prompt_tokens + 1)) // 2
    if weights > MAX_WEIGHTS:
        limit = f"must have at most {MAX_WEIGHTS:,} weights of attention, not {weights:,}"
        raise PromptTooLong.of("text", limit)


def _check_text(field: str, text: str) -> list[Violation]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = f"U+{ord(text[error.start]):04X}"
        return [Violation(field, f"has an unpaired surrogate, {code}, at {error.start}")]
    return []


def _check_ids(field: str, ids: Sequence[int], vocabulary: int) -> list[Violation]:
    for position, token in enumerate(ids):
        if not 0 <= token < vocabulary:
            limit = f"must be ids from 0 to {vocabulary - 1}, not {token} at {position}"
            return [Violation(field, limit)]
    return []


def _check_range(field: str, value: int, minimum: int, maximum: int) -> list[Violation]:
    if minimum <= value <= maximum:
        return []
    return [Violation(field, f"must be {minimum} to {maximum}, not {value}")]


def _check_stop(stop: Sequence[str]) -> list[Violation]:
    if len(stop) > MAX_STOP_STRINGS:
        limit = f"must be at most {MAX_STOP_STRINGS} strings, not {len(stop)}"
        return [Violation("stop", limit)]
    for text in stop:
        if not 1 <= len(text) <= MAX_STOP_CHARACTERS:
            limit = f"must be strings of 1 to {MAX_STOP_CHARACTERS} characters, not {len(text)}"
            return [Violation("stop", limit)]
        if wrong := _check_text("stop", text):
            return wrong
    return []
