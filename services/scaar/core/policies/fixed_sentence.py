"""FS-RAG (as DRAGIN measures IRCoT without its memory): retrieve for every sentence.

The query is the previous sentence; its passages replace the previous ones.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

FIXED_SENTENCE = Preset(
    name="fixed_sentence",
    moments=(Moment.BEFORE_SENTENCE,),
    query=QuerySettings("last_sentence", include_question=False),
)
