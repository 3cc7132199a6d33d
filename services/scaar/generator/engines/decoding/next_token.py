"""What a step's logits say: the token to write, how likely it is, and what else was likely."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scaar.core.types import TopToken

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class NextToken:
    """The likeliest token (the lowest id among equals) and the distribution that it is from.

    ``logprob`` and ``entropy`` are in nats, None where the logits give no number.
    """

    id: int
    logprob: float | None
    entropy: float | None
    logprobs: Array


def choose(logits: Array) -> NextToken:
    """The greedy choice from logits [vocabulary]; sums are in double precision."""
    scores = logits.astype(np.float64)
    shifted = scores - scores.max()
    logprobs = shifted - math.log(np.exp(shifted).sum())
    chosen = int(scores.argmax())
    probabilities = np.exp(logprobs)
    # A probability of 0 adds nothing, though its logarithm is no number.
    terms = np.multiply(
        probabilities, logprobs, where=probabilities != 0, out=np.zeros_like(scores)
    )
    return NextToken(chosen, _finite(logprobs[chosen]), _finite(0.0 - terms.sum()), logprobs)


def likeliest(logprobs: Array, count: int, text_of: Callable[[int], str]) -> tuple[TopToken, ...]:
    """The likeliest tokens, best first, the lower id among equals."""
    if not count:
        return ()
    count = min(count, len(logprobs))
    # A vocabulary is large: only what is as likely as the last one wanted is put in order.
    least = np.partition(logprobs, -count)[-count]
    likely = np.flatnonzero(logprobs >= least)
    order = likely[np.argsort(-logprobs[likely], kind="stable")][:count]
    return tuple(TopToken(int(each), text_of(int(each)), float(logprobs[each])) for each in order)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
