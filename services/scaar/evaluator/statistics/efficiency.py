"""Ratios of gains to costs."""

import numpy as np

from scaar.evaluator.statistics.table import Floats


def s_eff(scores: Floats, without_retrieval: Floats, retrievals: Floats) -> Floats:
    """Return S_eff: 100 times the gain over no retrieval, per retrieval (SCAAR, section 4).

    ``scores`` are in [0, 1], ``retrievals`` per question. The unit is points per retrieval. Not a
    number without retrievals. S_eff rewards rare triggers, so compare the frontier too.
    """
    undefined = np.where(retrievals > 0, retrievals, np.nan)
    return np.asarray(100 * (scores - without_retrieval) / undefined, dtype=np.float64)


def share(part: Floats, whole: Floats) -> Floats:
    """Return the share of a whole in [0, 1]; not a number if the whole is 0."""
    return np.asarray(part / np.where(whole > 0, whole, np.nan), dtype=np.float64)
