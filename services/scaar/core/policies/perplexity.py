"""Plain uncertainty (AdaRAGUE, Moskvoretskii et al., ACL 2025): the sentence's perplexity.

The query is the whole draft, since no single word is uncertain.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

PERPLEXITY = Preset(
    name="perplexity",
    moments=(Moment.UNCERTAIN_DRAFT,),
    trigger="perplexity",
    query=QuerySettings("current_sentence", include_question=False),
)
