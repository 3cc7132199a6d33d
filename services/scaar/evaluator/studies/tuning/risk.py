"""A threshold with a controlled risk: Learn-then-Test (Angelopoulos et al., 2021).

The loss of an answer is 1 if it contains a wrong draft that was accepted unchecked. The drafts of
an answer are not exchangeable, and a threshold changes later drafts, so the unit is the answer, and
each theta is evaluated with the answers of its own policy. The thetas are fixed before the
calibration answers are seen, and tested in order, from the one that retrieves most, until the first
hypothesis "the risk is above the limit" that is not rejected (fixed-sequence testing). Then, with
probability 1 - delta, the risk of the last rejected theta is within the limit.

This holds for answers exchangeable with those of the calibration split, with the same model, index
and prompt. It says nothing about other questions, and nothing after a drift.
"""

import math
from collections.abc import Awaitable, Callable, Sequence

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.plurals import are, counted

DELTA = 0.05
"""The probability that the risk is above the limit."""
CALIBRATION_FOLDS = frozenset({3, 4})
"""The folds on which the threshold is tested; the policy is chosen on the others."""
GRID = 256
"""Maximum number of thetas that are tested."""


def binomial_p(losses: int, answers: int, max_risk: float) -> float:
    """Return the p-value of a risk above the limit: P(Binomial(answers, max_risk) <= losses)."""
    log_risk, log_rest = math.log(max_risk), math.log1p(-max_risk)
    terms = (
        math.lgamma(answers + 1)
        - math.lgamma(each + 1)
        - math.lgamma(answers - each + 1)
        + each * log_risk
        + (answers - each) * log_rest
        for each in range(losses + 1)
    )
    return min(1.0, math.fsum(math.exp(each) for each in terms))


def required_answers(max_risk: float, delta: float = DELTA) -> int:
    """Return the number of calibration answers below which no theta can be valid."""
    return math.ceil(math.log(delta) / math.log1p(-max_risk))


def check_answers(answers: int, max_risk: float) -> None:
    """Check that there are enough calibration answers.

    Raises:
        InvalidRequest: a risk cannot be controlled with so few answers.
    """
    if answers < (needed := required_answers(max_risk)):
        of_split = f"{counted(answers, 'question')} {are(answers)} in the calibration split"
        text = f"{of_split}, and a risk of {max_risk:g}"
        raise InvalidRequest.of("dataset", f"{text} needs {needed}: add questions")


async def controlled(
    thetas: Sequence[float],
    losses: Callable[[float], Awaitable[Sequence[bool]]],
    *,
    max_risk: float,
    delta: float = DELTA,
) -> float:
    """Return the last valid theta; ``thetas`` are in order, the one that retrieves most first.

    ``losses`` are those of the calibration answers.

    Raises:
        ScaarError: no theta is valid.
    """
    found = None
    for theta in thetas:
        lost = await losses(theta)
        if binomial_p(sum(lost), len(lost), max_risk) > delta:
            break
        found = theta
    if found is None:
        text = (
            f"no theta keeps the risk within {max_risk:g}; take more questions or a lower --catch"
        )
        raise ScaarError(text)
    return found
