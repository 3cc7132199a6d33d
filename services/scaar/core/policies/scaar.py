"""SCAAR: thresholds that rise with a word's semantic contribution, percentile-filtered queries.

A sentence is uncertain when some word's probability is below its own threshold (Eq. 1 to 3); the
query is the question and the confident words that contribute most (Algorithm 1).
"""

from scaar.core.policies.preset import JUDGING, Preset
from scaar.core.types import Capability, Formulation, QuerySettings, Weighting, When

SCAAR = Preset(
    name="scaar",
    when=When.UNCERTAIN_WORD,
    weighting=Weighting.EXP_RAW,
    theta=0.8,
    query=QuerySettings(Formulation.PFQ, include_question=True, alpha=50.0),
    needs=frozenset({Capability.LOGPROBS}),
    adjustable=JUDGING,
)
