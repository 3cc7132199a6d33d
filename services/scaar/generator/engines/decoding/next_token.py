"""Greedy choice and alternatives from the logits of a step."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scaar.core.types import TopToken

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class NextToken:
    """The most likely token (the lowest id among equals) and its distribution.

    ``logprob`` and ``entropy`` are in nats; None if they are not finite.
    """

    id: int
    logprob: float | None
    entropy: float | None
    logprobs: Array


def choose(logits: Array) -> NextToken:
    """Return the greedy choice from logits [vocabulary], computed in double precision."""
    scores = logits.astype(np.float64)
    shifted = scores - scores.max()
    logprobs = shifted - math.log(np.exp(shifted).sum())
    chosen = int(scores.argmax())
    probabilities = np.exp(logprobs)
    # A probability of 0 adds nothing to the entropy, although its logarithm is infinite.
    terms = np.multiply(
        probabilities, logprobs, where=probabilities != 0, out=np.zeros_like(scores)
    )
    return NextToken(chosen, _finite(logprobs[chosen]), _finite(0.0 - terms.sum()), logprobs)


def likeliest(logprobs: Array, count: int, text_of: Callable[[int], str]) -> tuple[TopToken, ...]:
    """Return the most likely tokens, best first, the lower id first among equals."""
    if not count:
        return ()
    count = min(count, len(logprobs))
    # A vocabulary is large: only the top tokens are sorted.
    minimum = np.partition(logprobs, -count)[-count]
    likely = np.flatnonzero(logprobs >= minimum)
    order = likely[np.argsort(-logprobs[likely], kind="stable")][:count]
    return tuple(TopToken(int(each), text_of(int(each)), float(logprobs[each])) for each in order)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
