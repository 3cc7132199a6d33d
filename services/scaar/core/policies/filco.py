"""FILCO: passages for the question are retrieved once; only their useful sentences are used.

Wang et al., "Learning to Filter Context for Retrieval-Augmented Generation", arXiv 2311.08377.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings, SentenceFilter

FILCO = Preset(
    name="filco",
    moments=(Moment.BEFORE_ANSWER,),
    query=QuerySettings("question", include_question=False),
    sentence_filter=SentenceFilter.LEARNED,
)
