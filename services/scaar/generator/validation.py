"""Validation of requests, before any work."""

import math
from collections.abc import Collection, Mapping, Sequence

from scaar.core.errors import CapabilityMissing, InvalidRequest, PromptTooLong, Violation
from scaar.core.types import (
    AttendRequest,
    AttentionKind,
    Capability,
    GenerateRequest,
    LogprobsRequest,
)

MAX_NEW_TOKENS = 1024
MAX_STOP_STRINGS = 16
MAX_STOP_CHARACTERS = 256
MAX_TOP_TOKENS = 20
MAX_TEMPERATURE = 2.0
MAX_SEED = 2**31 - 1
MAX_SAMPLES = 20
MAX_NAMED_TOKENS = 20
MAX_NAMED_CHARACTERS = 256
MAX_ANSWER_ID_CHARACTERS = 128
MAX_LOGPROBS = 100_000
"""Log-probabilities of a text, its likeliest and named tokens included."""
MAX_WEIGHTS = 1_500_000
"""Weights of an attention: 12 MB, close to the maximum size of a message."""


def check_generate(
    request: GenerateRequest,
    *,
    vocabulary: int,
    max_top_tokens: int = MAX_TOP_TOKENS,
    capabilities: Collection[Capability] = (),
    hidden_layers: int | None = None,
) -> None:
    """Validate a generation request, except for its length in tokens.

    ``capabilities`` are those of the engine, and ``hidden_layers`` its highest layer.

    Raises:
        InvalidRequest: naming every invalid field and its limit.
        CapabilityMissing: the request needs a capability that the engine lacks.
    """
    wrong = [
        *_check_text("system", request.system),
        *_check_text("prompt", request.prompt),
        *_check_text("prefix", request.prefix),
        *_check_ids("prefix_token_ids", request.prefix_token_ids, vocabulary),
        *_check_range("max_tokens", request.max_tokens, 1, MAX_NEW_TOKENS),
        *_check_stop(request.stop),
        *_check_range("top_tokens", request.top_tokens, 0, max_top_tokens),
        *_check_sampling(request),
        *_check_named(request.named_tokens),
        *_check_answer_id(request.answer_id),
    ]
    if not request.prompt and not request.prefix:
        wrong.append(Violation("prompt", "must not be empty if prefix is empty"))
    if request.hidden_layer is not None and hidden_layers is not None:
        wrong += _check_range("hidden_layer", request.hidden_layer, 0, hidden_layers)
    if wrong:
        raise InvalidRequest(wrong)
    check_capabilities(request, capabilities)


def check_capabilities(
    request: GenerateRequest | LogprobsRequest | AttendRequest,
    capabilities: Collection[Capability],
) -> None:
    """Check that the engine has the capabilities that the fields of a request need.

    Raises:
        CapabilityMissing: naming the field and the capability.
    """
    needs = {"system": (Capability.SYSTEM_TURN, bool(request.system))}
    if not isinstance(request, AttendRequest):
        needs["named_tokens"] = (Capability.NAMED_TOKENS, bool(request.named_tokens))
    if isinstance(request, LogprobsRequest):
        needs["text"] = (Capability.TEXT_LOGPROBS, True)
    if isinstance(request, GenerateRequest):
        needs |= {
            "attention": (Capability.ATTENTION, request.attention),
            "temperature": (Capability.SAMPLING, request.temperature > 0),
            "seed": (Capability.SEED, request.seed is not None),
            "hidden_layer": (Capability.HIDDEN_STATES, request.hidden_layer is not None),
        }
    for field, (capability, needed) in needs.items():
        if needed and capability not in capabilities:
            raise CapabilityMissing(
                f"{field} needs the capability {capability.value}, which this engine lacks"
            )


def check_attend(
    request: AttendRequest, *, vocabulary: int, capabilities: Collection[Capability] = ()
) -> None:
    """Validate an attention request, except for its length in tokens.

    Raises:
        InvalidRequest: naming every invalid field and its limit.
        CapabilityMissing: the request needs a capability that the engine lacks.
    """
    wrong = [
        *_check_text("system", request.system),
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
    check_capabilities(request, capabilities)


def check_logprobs(
    request: LogprobsRequest,
    *,
    vocabulary: int,
    max_top_tokens: int = MAX_TOP_TOKENS,
    capabilities: Collection[Capability],
) -> None:
    """Validate a request for the log-probabilities of a text, except for its length in tokens.

    Raises:
        InvalidRequest: naming every invalid field and its limit.
        CapabilityMissing: the request needs a capability that the engine lacks.
    """
    wrong = [
        *_check_text("system", request.system),
        *_check_text("prompt", request.prompt),
        *_check_text("text", request.text),
        *_check_ids("text_token_ids", request.text_token_ids, vocabulary),
        *_check_range("top_tokens", request.top_tokens, 0, max_top_tokens),
        *_check_named(request.named_tokens),
    ]
    if not request.text:
        wrong.append(Violation("text", "must not be empty"))
    if wrong:
        raise InvalidRequest(wrong)
    check_capabilities(request, capabilities)


def check_logprob_count(request: LogprobsRequest, tokens: int) -> None:
    """Check that the log-probabilities of a text of ``tokens`` fit a message.

    Raises:
        PromptTooLong: naming the limit.
    """
    count = tokens * (1 + request.top_tokens + len(request.named_tokens))
    if count > MAX_LOGPROBS:
        text = f"must have at most {MAX_LOGPROBS:,} log-probabilities, not {count:,}"
        raise PromptTooLong.of("text", text)


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


def _check_sampling(request: GenerateRequest) -> list[Violation]:
    wrong = []
    if not (math.isfinite(request.temperature) and 0 <= request.temperature <= MAX_TEMPERATURE):
        text = f"must be 0 to {MAX_TEMPERATURE:g}, not {request.temperature:g}"
        wrong.append(Violation("temperature", text))
    if request.seed is not None:
        wrong += _check_range("seed", request.seed, 0, MAX_SEED)
    wrong += _check_range("n", request.n, 1, MAX_SAMPLES)
    if 1 < request.n <= MAX_SAMPLES and request.temperature == 0:
        text = f"must be 1 with temperature 0, not {request.n}: greedy samples are all the same"
        wrong.append(Violation("n", text))
    return wrong


def _check_named(named: Sequence[str]) -> list[Violation]:
    if len(named) > MAX_NAMED_TOKENS:
        text = f"must be at most {MAX_NAMED_TOKENS} tokens, not {len(named)}"
        return [Violation("named_tokens", text)]
    for token in named:
        if not 1 <= len(token) <= MAX_NAMED_CHARACTERS:
            text = f"must be tokens of 1 to {MAX_NAMED_CHARACTERS} characters, not {len(token)}"
            return [Violation("named_tokens", text)]
        if wrong := _check_text("named_tokens", token):
            return wrong
    return []


def _check_answer_id(answer_id: str) -> list[Violation]:
    if (length := len(answer_id)) > MAX_ANSWER_ID_CHARACTERS:
        text = f"must have at most {MAX_ANSWER_ID_CHARACTERS} characters, not {length}"
        return [Violation("answer_id", text)]
    return _check_text("answer_id", answer_id)


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
