"""Gradients of a model, and their mean over a data set, accumulated and saved in a file."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from scaar.core.errors import DataCorrupt
from scaar.evaluator.store.files import WRITING, unwritable

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


class MeanGradient:
    """The sum of the gradients of the first ``count`` questions, in double precision.

    Memory holds this sum and the gradient that is added: 12 bytes per weight.
    """

    def __init__(self, path: Path) -> None:
        """Resume from the sum in the file, if it exists.

        Raises:
            DataCorrupt: the file is no sum of gradients.
        """
        self._path = path
        self.count = 0
        self._sums: list[NDArray[np.float64]] = []
        if path.exists():
            self._read()

    def add(self, gradient: Gradient) -> None:
        """Add the gradient of the next question."""
        if not self._sums:
            self._sums = [np.zeros(each.shape) for each in gradient]
        for total, each in zip(self._sums, gradient, strict=True):
            total += each
        self.count += 1

    def product(self, gradient: Gradient) -> float:
        """Return the dot product of the mean and a gradient."""
        parts = (
            float(np.vdot(total, each)) for total, each in zip(self._sums, gradient, strict=True)
        )
        return sum(parts) / self.count

    def save(self) -> None:
        """Write the sum to the file atomically.

        Raises:
            ScaarError: the file cannot be written.
        """
        writing = self._path.with_name(self._path.name + WRITING)
        try:
            with writing.open("wb") as file:
                np.savez(file, np.array(self.count), *self._sums)
                file.flush()
                os.fsync(file.fileno())
            writing.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                writing.unlink()
            raise unwritable(self._path, error) from error

    def _read(self) -> None:
        try:
            with np.load(self._path, allow_pickle=False) as file:
                count, *sums = (file[f"arr_{number}"] for number in range(len(file.files)))
                self.count, self._sums = int(count), sums
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
            raise DataCorrupt(f"{self._path} is corrupt: {error}") from error
