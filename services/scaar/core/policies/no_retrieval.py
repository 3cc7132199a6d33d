"""The model alone: what it writes stands."""

from scaar.core.policies.preset import Preset
from scaar.core.types import Formulation, QuerySettings, When

NO_RETRIEVAL = Preset(
    name="no_retrieval",
    when=When.NEVER,
    query=QuerySettings(Formulation.QUESTION, include_question=False),
    top_k=0,
)
