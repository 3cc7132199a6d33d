"""Statistics of scores: means of sets of questions, their intervals, and differences.

Everything is computed from the means of a set of questions (:mod:`.means`), so that each statistic
is resampled as a whole, including the choice of a setting.
"""

RESAMPLES = 2_000
"""Default number of bootstrap samples."""
