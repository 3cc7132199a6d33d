"""FLARE (Jiang et al., 2023), at word level: one threshold for every word of the draft.

A sentence is uncertain if the probability of some word is below theta; the query is the draft
without its uncertain words (FLARE section 3.2.2, the masked sentence).
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

FLARE = Preset(
    name="flare",
    moments=(Moment.UNCERTAIN_DRAFT,),
    trigger="flare",
    query=QuerySettings("current_sentence", include_question=False),
)
