"""The outcomes of gates: detection, quality at a share of retrievals, differences; with intervals.

Intervals are those of the questions, from bootstrap samples of whole clusters; the trained gates
and their thresholds are fixed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import NormalDist

import numpy as np

from scaar.core.types import PolicyRequest, Usage
from scaar.evaluator.records import Score, Setting
from scaar.evaluator.statistics import RESAMPLES
from scaar.evaluator.statistics.detection import (
    Samples,
    Truths,
    auroc,
    entity_draws,
    estimated,
    share_of_false,
    share_of_true,
)
from scaar.evaluator.statistics.estimate import (
    CONFIDENCE,
    Corrected,
    Estimate,
    differences,
    estimate,
)
from scaar.evaluator.statistics.means import Means, resampled_means
from scaar.evaluator.statistics.table import Floats, ScoreTable, TableBuilder
from scaar.evaluator.studies.gates.choices import SHARES, Choices, choices_of, top
from scaar.evaluator.studies.gates.sample import GateSample, Positions
from scaar.evaluator.studies.gates.validation import Judged, Trained

NEVER, ALWAYS, RANDOM, ORACLE = "never", "always", "random", "oracle"
F1, RETRIEVED = "f1", "retrieved"
"""The columns at a gate's own threshold."""
POWER = 0.8
"""The probability of finding the minimum detectable effect."""
PER_RETRIEVALS = 100
_NOTHING = Usage(0, 0, 0, 0, 0.0)


def at_share(share: float) -> str:
    """Return the column of the F1 if this share of the questions is retrieved for."""
    return f"f1@{share:g}"


def label_of(trained: Trained) -> str:
    """Return the label of a gate that was trained on a target."""
    return f"{trained.gate}:{trained.target}"


@dataclass(frozen=True, slots=True)
class Detection:
    """How well a gate finds the questions that need retrieval, by its target.

    A question needs retrieval if its answer without is wrong, or if retrieval helps it. ``sides``
    is the AUROC of help against harm among the questions with either. ``over_retrieval`` is the
    share of the other questions that the gate retrieves for by its own threshold,
    ``under_retrieval`` the share of those in need that it does not retrieve for.
    """

    auroc: Estimate
    sides: Estimate
    over_retrieval: Estimate
    under_retrieval: Estimate


@dataclass(frozen=True, slots=True)
class Gain:
    """The difference of the F1 of two rows at a share of retrievals.

    ``detectable`` is the minimum detectable effect: the difference that a two-sided test at 5%
    finds with a probability of 80%. The p-value is corrected for the number of differences.
    """

    label: str
    share: float
    found: Corrected
    detectable: float

    @property
    def established(self) -> bool:
        """Whether the difference is significant and not below the minimum detectable effect."""
        significant = self.found.holm is not None and self.found.holm < 1 - CONFIDENCE
        return significant and abs(self.found.value or 0.0) >= self.detectable


class GateOutcomes:
    """The outcomes of the gates of a scenario on the questions that they judged."""

    def __init__(
        self, sample: GateSample, judged: Judged, *, resamples: int = RESAMPLES, seed: int = 0
    ) -> None:
        self.sample = sample
        self.judged = judged
        self.trained = tuple(judged.scores)
        self.labels = tuple(map(label_of, self.trained))
        self._resamples, self._seed = resamples, seed
        self._questions = [sample.questions[each] for each in judged.positions]

    @cached_property
    def choices(self) -> Mapping[str, Choices]:
        """The choices of each gate by its label."""
        found = self.judged.scores.items()
        return {label_of(each): choices_of(self.judged, scores) for each, scores in found}

    def detection(self, trained: Trained) -> Detection:
        """Return how well a gate finds the questions that need retrieval."""
        choices, at = self.choices[label_of(trained)], self.judged.positions
        benefit = self.sample.benefit[at]
        needed = trained.target.values(self.sample)[at] > 0
        samples, changed = self._samples(needed), np.flatnonzero(benefit)
        helped = benefit[changed] > 0
        return Detection(
            auroc=estimated(mean_auroc, choices.ranks, needed, samples),
            sides=estimated(
                mean_auroc, choices.ranks[changed], helped, self._samples(helped, changed)
            ),
            over_retrieval=estimated(share_of_false, choices.own, needed, samples),
            under_retrieval=estimated(share_of_true, 1 - choices.own, needed, samples),
        )

    def estimates(self, column: str) -> Mapping[str, Estimate]:
        """Return the mean of a column for every row of the table."""
        means = self._means.of(column)
        return {label: estimate(means[:, at]) for at, label in enumerate(self._rows)}

    def lost(self, label: str) -> Estimate:
        """Return the F1 lost per 100 retrievals saved by a gate's own threshold.

        Undefined if the gate retrieves for every question.
        """
        at, always = self._rows.index(label), self._rows.index(ALWAYS)
        f1, retrieved = self._means.of(F1), self._means.of(RETRIEVED)
        saved = 1 - retrieved[:, at]
        saved = np.where(saved > 0, saved, np.nan)
        return estimate(PER_RETRIEVALS * (f1[:, always] - f1[:, at]) / saved)

    def gains(self, other: str = RANDOM) -> tuple[Gain, ...]:
        """Return the difference of every gate from another row at each share, corrected by Holm."""
        return self._gains([(label, other, share) for share in SHARES for label in self.labels])

    def pairs(self, share: float) -> tuple[Gain, ...]:
        """Return the difference of every two gates at a share, corrected by Holm."""
        return self._gains([(*two, share) for two in combinations(self.labels, 2)])

    def _gains(self, compared: Sequence[tuple[str, str, float]]) -> tuple[Gain, ...]:
        """Return the first row less the second at each share."""
        gained = []
        for one, other, share in compared:
            means = self._means.of(at_share(share))
            gained.append(means[:, self._rows.index(one)] - means[:, self._rows.index(other)])
        return tuple(
            Gain(one if other == RANDOM else f"{one} - {other}", share, each, detectable(own[1:]))
            for (one, other, share), each, own in zip(
                compared, differences(gained), gained, strict=True
            )
        )

    def _samples(self, truths: Truths, kept: Positions | None = None) -> Samples:
        questions = self._questions if kept is None else [self._questions[each] for each in kept]
        return entity_draws([each.entity for each in questions], truths, seed=self._seed)

    @property
    def _rows(self) -> tuple[str, ...]:
        return (NEVER, ALWAYS, RANDOM, ORACLE, *self.labels)

    @cached_property
    def table(self) -> ScoreTable:
        """The F1 and the retrievals of every question under every row."""
        builder = TableBuilder(
            self._questions, [Setting(label, PolicyRequest()) for label in self._rows]
        )
        for label in self._rows:
            columns = self._columns(label)
            for at, question in enumerate(self._questions):
                values = {name: float(column[at]) for name, column in columns.items()}
                builder.add_score(Score(label, question.id, values, _NOTHING))
        built = builder.build()
        return built.only(built.measures)

    def _columns(self, label: str) -> Mapping[str, Floats]:
        own, at = self._retrieved(label)
        columns = {at_share(share): self._f1(at[share]) for share in SHARES}
        return {F1: self._f1(own), RETRIEVED: own, **columns}

    def _retrieved(self, label: str) -> tuple[Floats, Mapping[float, Floats]]:
        """Return how often a row retrieves for each question, by itself and at each share."""
        if label in self.choices:
            return self.choices[label].own, self.choices[label].at
        at = self.judged.positions
        gain = (self.sample.retrieved - self.sample.without)[at]
        if label == ORACLE:
            return np.where(gain > 0, 1.0, 0.0), {share: top(gain, share) for share in SHARES}
        if label == RANDOM:
            return np.full(len(at), 0.5), {share: np.full(len(at), share) for share in SHARES}
        own = np.full(len(at), 1.0 if label == ALWAYS else 0.0)
        return own, dict.fromkeys(SHARES, own)

    def _f1(self, retrieved: Floats) -> Floats:
        at = self.judged.positions
        without = self.sample.without[at]
        return without + retrieved * (self.sample.retrieved[at] - without)

    @cached_property
    def _means(self) -> Means:
        return resampled_means(self.table, seed=self._seed, resamples=self._resamples)


def mean_auroc(ordered: Floats, truths: Truths) -> float:
    """Return the mean AUROC of the repetitions; ``ordered`` is cases by repetitions."""
    return float(np.mean([auroc(each, truths) for each in ordered.T]))


def detectable(sampled: Floats) -> float:
    """Return the minimum detectable effect of a difference with these bootstrap samples."""
    normal = NormalDist()
    needed = normal.inv_cdf((1 + CONFIDENCE) / 2) + normal.inv_cdf(POWER)
    return float(needed * sampled.std())
