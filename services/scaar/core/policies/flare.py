"""FLARE (Jiang et al., 2023), at word level: one threshold for every word of the draft.

A sentence is uncertain when some word's probability is below theta; the query is the draft
without its uncertain words (FLARE section 3.2.2, the masked sentence).
"""

from scaar.core.policies.preset import JUDGING, Preset
from scaar.core.types import Capability, Formulation, QuerySettings, Weighting, When

FLARE = Preset(
    name="flare",
    when=When.UNCERTAIN_WORD,
    weighting=Weighting.NONE,
    theta=0.8,
    query=QuerySettings(Formulation.CURRENT_SENTENCE, include_question=False),
    needs=frozenset({Capability.LOGPROBS}),
    adjustable=JUDGING,
)
