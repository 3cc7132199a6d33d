"""Conversion of TGI's tokens and finish reasons to the port's."""

import math
from collections.abc import Mapping
from types import MappingProxyType

from text_generation.types import FinishReason as TgiFinishReason

from scaar.core.types import FinishReason, TopToken
from scaar.generator.engines.served.text import ServedToken
from scaar.generator.engines.tgi_server.client import TgiEvent

REASONS: Mapping[TgiFinishReason, FinishReason] = MappingProxyType(
    {
        TgiFinishReason.Length: FinishReason.LENGTH,
        TgiFinishReason.EndOfSequenceToken: FinishReason.END_OF_SEQUENCE,
        TgiFinishReason.StopSequence: FinishReason.STOP,
    }
)


def token_of(event: TgiEvent, top_tokens: int) -> ServedToken | None:
    """Return the token of an event with its alternatives; None for a special token."""
    token, details = event.token, event.details
    ends = details is not None and details.finish_reason is TgiFinishReason.EndOfSequenceToken
    if token.special or ends:
        return None
    likeliest = tuple(
        TopToken(each.id, each.text, logprob)
        for each in event.top_tokens or ()
        if (logprob := known_logprob(each.logprob)) is not None
    )
    # TGI may return more alternatives than requested if they are equally likely.
    return ServedToken(token.id, token.text, known_logprob(token.logprob), likeliest[:top_tokens])


def rest_of(event: TgiEvent, text: str) -> str:
    """Return what the whole text has after the tokens' texts: an incomplete character."""
    whole = event.generated_text or ""
    return whole[len(text) :] if whole.startswith(text) else ""


def known_logprob(logprob: float | None) -> float | None:
    """Return the log-probability, at most 0; None if it is not finite."""
    if logprob is None or not math.isfinite(logprob):
        return None
    return min(0.0, logprob)
