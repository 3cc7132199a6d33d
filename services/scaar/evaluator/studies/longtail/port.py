"""The port of models that compute gradients."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Gradient = tuple[NDArray[np.float32], ...]
"""A gradient: an array for each weight, in their order."""


class GradientModel(Protocol):
    """A language model with accessible weights."""

    @property
    def weights(self) -> Sequence[str]:
        """The names of the weights whose gradients are taken."""
        ...

    def gradient(self, prompt: str, prefix: str, reference: str) -> Gradient:
        """Return the gradient of the reference's negative log-likelihood, averaged over its tokens.

        The reference follows ``prompt`` and ``prefix``, the start of the model's text.

        Raises:
            PromptTooLong: the text exceeds the context of the model.
            ScaarError: the gradient is not finite.
        """
        ...
