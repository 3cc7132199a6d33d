"""Choice of a token, and its alternatives, from the logits of a step."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scaar.core.types import TopToken

Array = np.ndarray[Any, Any]

_LOWEST = np.finfo(np.float64).min


@dataclass(frozen=True, slots=True)
class NextToken:
    """The chosen token and the distribution of the model.

    ``logprob`` and ``entropy`` are in nats; None if they are not finite.
    """

    id: int
    logprob: float | None
    entropy: float | None
    logprobs: Array


class Sampler:
    """Draws tokens from the whole vocabulary at a temperature, the same ones for the same seed."""

    def __init__(self, temperature: float, seed: int | None) -> None:
        """``temperature`` is above 0. Without a seed, every sampler draws other tokens."""
        self._temperature = temperature
        self._random = np.random.default_rng(seed)

    def draw(self, logprobs: Array) -> int:
        """Return a token drawn from softmax(logprobs / temperature)."""
        # At a very low temperature a quotient overflows to -inf, which is the probability 0.
        with np.errstate(over="ignore"):
            scaled = (logprobs - logprobs.max()) / self._temperature
        total = np.cumsum(np.exp(scaled))
        # Never the end of the range, so that a token of probability 0 is never drawn.
        place = self._random.random() * total[-1]
        return min(int(np.searchsorted(total, place, side="right")), len(total) - 1)


def choose(logits: Array, pick: Callable[[Array], int] | None = None) -> NextToken:
    """Return the choice from logits [vocabulary], computed in double precision.

    ``pick`` chooses by the log-probabilities; without it, the most likely token is chosen, the
    lowest id among equals. The numbers are those of the model's own distribution.
    """
    logprobs = logits.astype(np.float64)
    logprobs -= logprobs.max()
    weights = np.exp(logprobs)
    total = float(weights.sum())
    # A probability of 0 adds nothing to the entropy, although its logarithm is infinite.
    mean = float(weights @ np.maximum(logprobs, _LOWEST)) / total
    logprobs -= math.log(total)
    chosen = int(logits.argmax()) if pick is None else pick(logprobs)
    return NextToken(chosen, _finite(logprobs[chosen]), _finite(math.log(total) - mean), logprobs)


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


def named(logprobs: Array, ids: Sequence[int], names: Sequence[str]) -> tuple[TopToken, ...]:
    """Return the named tokens, in order, with their log-probabilities."""
    return tuple(
        TopToken(token, name, float(logprobs[token]))
        for token, name in zip(ids, names, strict=True)
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
