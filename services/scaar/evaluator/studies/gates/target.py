"""What gates are trained to predict."""

import enum

from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.sample import GateSample


class Target(enum.StrEnum):
    """The targets."""

    WRONG = "wrong"
    """The answer without retrieval is wrong."""

    BENEFIT = "benefit"
    """Retrieval makes a wrong answer right (1), a right one wrong (-1), or neither (0)."""

    def values(self, sample: GateSample) -> Floats:
        """Return the values of the questions: 1 or 0, or 1, 0 or -1."""
        return sample.wrong if self is Target.WRONG else sample.benefit
