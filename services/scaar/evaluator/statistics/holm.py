"""Correction of p-values for multiple comparisons (Holm, 1979)."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values, corrected for their number.

    In ascending order the k-th of m (from 0) is multiplied by m - k; it is at least the previous
    one and at most 1. Raises ValueError for a p-value outside [0, 1].
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value must be in [0, 1], not {p:g}")
    adjusted, lowest = [0.0] * len(p_values), 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        lowest = max(lowest, min(1.0, (len(p_values) - done) * p_values[at]))
        adjusted[at] = lowest
    return adjusted
