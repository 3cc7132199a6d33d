"""SCAAR: thresholds that rise with a word's semantic contribution, percentile-filtered queries.

A sentence is uncertain if the probability of some word is below its own threshold (Eq. 1 to 3); the
query is the question and the confident words with the largest contributions (Algorithm 1).
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

SCAAR = Preset(
    name="scaar",
    moments=(Moment.UNCERTAIN_DRAFT,),
    trigger="exp_raw",
    query=QuerySettings("pfq", include_question=True, alpha=50.0),
)
