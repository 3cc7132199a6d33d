"""Plain uncertainty (AdaRAGUE, Moskvoretskii et al., ACL 2025): the sentence's mean entropy.

The query is the whole draft, since no single word is uncertain.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

MEAN_ENTROPY = Preset(
    name="mean_entropy",
    moments=(Moment.UNCERTAIN_DRAFT,),
    trigger="mean_entropy",
    query=QuerySettings("current_sentence", include_question=False),
)
