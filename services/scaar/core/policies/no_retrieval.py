"""The model alone: its text is accepted unchanged."""

from scaar.core.policies.preset import Preset
from scaar.core.types import QuerySettings

NO_RETRIEVAL = Preset(
    name="no_retrieval",
    moments=(),
    query=QuerySettings("question", include_question=False),
    top_k=0,
)
