"""ETC (Li et al., AAAI 2026): retrieve where the entropy of words changes sharply.

The query is DRAGIN's, by attention, as the paper says (section 3.3).
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

ETC = Preset(
    name="etc",
    moments=(Moment.UNCERTAIN_DRAFT,),
    trigger="etc",
    query=QuerySettings("attention", include_question=False),
)
