"""The project's weighting, by r' of SCAAR Eq. 2: theta_i = theta ** (1 / r').

A word triggers if r' * -ln P' > -ln theta: the contribution weighs the surprisal, as in DRAGIN and
SAR. The threshold is theta at r' = 1 and never exceeds 1; a word without contribution never
triggers.
"""

from collections.abc import Sequence

from scaar.core.evidence.evidence import Evidence
from scaar.core.loop.contribution import normalised
from scaar.core.triggers.lower_threshold import Limit, judge
from scaar.core.triggers.rule import PROBABILITY, Judgement, TriggerRule
from scaar.core.types import EffectivePolicy, EvidenceKind


def limits(shares: Sequence[float], theta: float) -> list[Limit]:
    """Return the thresholds of words from shares with mean 1."""
    # 1 / r' may be infinite; theta <= 1 to this power is then 0.
    return [Limit(theta ** (1.0 / share) if share > 0.0 else 0.0, share=share) for share in shares]


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    shares = normalised(evidence.known_contributions)
    return judge(evidence, policy, limits(shares, policy.theta))


SURPRISAL = TriggerRule(
    _judge, PROBABILITY, frozenset({EvidenceKind.PROBABILITIES, EvidenceKind.CONTRIBUTIONS})
)
