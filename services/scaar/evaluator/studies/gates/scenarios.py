"""The scenarios of a comparison: what gates are trained on, and which questions they judge."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scaar.evaluator.studies.gates.candidates import Gate
from scaar.evaluator.studies.gates.sample import GateSample, Positions
from scaar.evaluator.studies.gates.validation import (
    Judged,
    Progress,
    cross_validated,
    transferred,
)

_TRANSFER_SHARE = 0.05
"""The approximate share of the work that one transfer takes."""


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """A scenario by its name, with the judgements of its questions."""

    name: str
    title: str
    judged: Judged


def scenarios(
    sample: GateSample, gates: Sequence[Gate], *, repeats: int, progress: Progress
) -> Iterator[Scenario]:
    """Yield the scenarios: all sets pooled, each set of them, and from each set to each other.

    The gates of the pooled scenarios are the same ones.
    """
    sets = sample.sets
    pairs = [(one, other) for one in sets for other in sets if one != other]
    cross = 1 - _TRANSFER_SHARE * len(pairs)
    pooled = cross_validated(
        sample, gates, repeats=repeats, progress=lambda share: progress(share * cross)
    )
    yield Scenario("pooled", "All sets, cross-validated", pooled)
    if len(sets) > 1:
        for name in sets:
            part = _part(pooled, sample.of(name))
            yield Scenario(f"pooled_{name}", f"{name}, by gates trained on all sets", part)
    for at, (one, other) in enumerate(pairs, 1):
        judged = transferred(sample, gates, sample.of(one), sample.of(other), repeats=repeats)
        progress(cross + _TRANSFER_SHARE * at)
        yield Scenario(f"{one}_to_{other}", f"{other}, by gates trained on {one}", judged)


def _part(judged: Judged, positions: Positions) -> Judged:
    at = np.flatnonzero(np.isin(judged.positions, positions))
    return Judged(
        judged.positions[at],
        judged.groups[:, at],
        {trained: scores[:, at] for trained, scores in judged.scores.items()},
    )
