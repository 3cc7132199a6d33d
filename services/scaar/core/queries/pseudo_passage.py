"""The question, and a passage that the model writes for it; their results are fused.

The two paths of DTR (Chen et al., arXiv 2601.03908); the pseudo-passage is that of HyDE (Gao et
al., ACL 2023). Without a passage, the question alone is searched for.
"""

from scaar.core.queries.formulation import Formulated, FormulationRule
from scaar.core.types import QueryRequest


def _question(request: QueryRequest, room: int) -> Formulated:
    """Return the words of the question, which is never cut."""
    return Formulated(tuple(request.question.split()))


def _passage(request: QueryRequest, room: int) -> Formulated:
    """Return the first ``room`` words of the passage."""
    return Formulated(tuple(request.passage.split()[:room]))


PSEUDO_PASSAGE = FormulationRule(
    _question, uses_passage=True, fused_with=FormulationRule(_passage, uses_passage=True)
)
