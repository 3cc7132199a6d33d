"""Self-RAG: the model's reflection tokens decide when to retrieve, and rank what it writes.

Asai et al., ICLR 2024: before a segment, passages are retrieved if the probability of
``[Retrieval]`` is above a threshold. The segment is written once from each passage; relevance,
support and utility, which the model judges by further tokens, decide which one is accepted.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

SELF_RAG = Preset(
    name="self_rag",
    moments=(Moment.ON_REFLECTION,),
    query=QuerySettings("last_sentence", include_question=True),
)
