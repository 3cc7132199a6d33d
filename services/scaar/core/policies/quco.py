"""QuCo-RAG: retrieval where the corpus of the model's training hardly supports what it writes.

Min et al., arXiv 2512.19134. Before the answer, the gate ``quco`` decides by the question's
entities whether to retrieve for the question. A sentence is uncertain if the corpus never has the
two entities together that it relates; the query is the first one and the relation.
"""

from scaar.core.gates import quco
from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

QUCO = Preset(
    name="quco",
    moments=(Moment.BEFORE_ANSWER, Moment.UNCERTAIN_DRAFT),
    trigger="corpus_counts",
    query=QuerySettings("entity_relation", include_question=False),
    gate=quco.NAME,
)
