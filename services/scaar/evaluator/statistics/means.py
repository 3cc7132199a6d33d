"""The means over a set of questions, and over bootstrap samples of it.

Clustered bootstrap (Efron, 1979; Davison and Hinkley, 1997, section 3.8): whole entities are
resampled with replacement, so that the questions about an entity count as one observation. All
settings share the samples, so differences between settings are paired.
"""

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scaar.evaluator.statistics import RESAMPLES
from scaar.evaluator.statistics.table import Floats, ScoreTable

_BATCH_SIZE = 2_000_000
"""The maximum of samples times entities in a batch, which bounds the memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """The mean of every column for every setting: samples by settings by columns.

    The first sample is the questions themselves, and bootstrap samples of them may follow.
    """

    columns: tuple[str, ...]
    values: Floats

    def of(self, column: str) -> Floats:
        """Return the means of a column: samples by settings."""
        return self.values[:, :, self.columns.index(column)]


@dataclass(frozen=True, slots=True, eq=False)
class SplitMeans:
    """The means over the development split and over the test split."""

    development: Means
    test: Means


@dataclass(frozen=True, slots=True, eq=False)
class SplitTable:
    """A table by splits. ``apart`` is false if a split was empty: both are then the whole table."""

    development: ScoreTable
    test: ScoreTable
    apart: bool

    def means(self, *, seed: int, resamples: int = RESAMPLES) -> SplitMeans:
        """Return the means of both splits, each resampled alone."""
        test = resampled_means(self.test, seed=seed, stream=1, resamples=resamples)
        if not self.apart:
            return SplitMeans(test, test)
        development = resampled_means(self.development, seed=seed, resamples=resamples)
        return SplitMeans(development, test)


def split_table(table: ScoreTable, *, tested: Container[str]) -> SplitTable:
    """Return the table by splits; ``tested`` has the ids of the questions of the test split."""
    test = [question.id in tested for question in table.questions]
    if all(test) or not any(test):
        return SplitTable(table, table, apart=False)
    return SplitTable(table.of([not each for each in test]), table.of(test), apart=True)


def means_of(table: ScoreTable) -> Means:
    """Return the means over the questions, without bootstrap samples."""
    return Means(table.columns, table.values.mean(axis=2)[np.newaxis])


def resampled_means(
    table: ScoreTable, *, seed: int, stream: int = 0, resamples: int = RESAMPLES
) -> Means:
    """Return the means over the questions, and over bootstrap samples of them.

    Samples are the same for the same seed and stream. A sample has as many entities as the table,
    with all questions of each.
    """
    settings, columns, _ = table.values.shape
    entities = len(table.clusters)
    sums = np.add.reduceat(table.values, table.clusters, axis=2).reshape(-1, entities).T
    sizes = np.diff(np.append(table.clusters, len(table.questions))).astype(np.float64)
    drawn = [table.values.mean(axis=2).reshape(1, -1)]
    chance = np.random.default_rng([stream, abs(seed), int(seed < 0)])
    batch = max(1, _BATCH_SIZE // entities)
    for start in range(0, resamples, batch):
        times = _times(chance, min(batch, resamples - start), entities)
        drawn.append((times @ sums) / (times @ sizes)[:, np.newaxis])
    return Means(table.columns, np.concatenate(drawn).reshape(-1, settings, columns))


def _times(chance: np.random.Generator, samples: int, entities: int) -> Floats:
    """Return how often each entity is in each sample."""
    drawn: NDArray[np.int64] = chance.integers(0, entities, size=(samples, entities))
    drawn += np.arange(samples)[:, np.newaxis] * entities
    times = np.bincount(drawn.ravel(), minlength=samples * entities)
    return times.reshape(samples, entities).astype(np.float64)
