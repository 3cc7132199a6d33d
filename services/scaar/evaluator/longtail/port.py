"""The port behind which a model gives its gradients."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Gradient = tuple[NDArray[np.float32], ...]
"""A gradient, an array for each of the weights, in their order."""


class GradientModel(Protocol):
    """A language model whose weights are at hand."""

    @property
    def weights(self) -> Sequence[str]:
        """The names of the weights whose gradients are taken."""
        ...

    def gradient(self, prompt: str, begun: str, reference: str) -> Gradient:
        """The gradient of the reference's negative log-likelihood, a token's on average.

        The reference stands after ``prompt`` and ``begun``, the beginning of the model's own text.

        Raises:
            PromptTooLong: the model has no room for all of it.
            ScaarError: a number in it is not finite.
        """
        ...
