"""FS-RAG (as DRAGIN measures IRCoT without its memory): retrieve for every sentence.

The query is the sentence before; its passages take the place of the last ones.
"""

from scaar.core.policies.preset import RETRIEVING, Preset
from scaar.core.types import Formulation, QuerySettings, When

FIXED_SENTENCE = Preset(
    name="fixed_sentence",
    when=When.EVERY_SENTENCE,
    query=QuerySettings(Formulation.LAST_SENTENCE, include_question=False),
    adjustable=RETRIEVING,
)
