"""The last accepted sentence (FS-RAG, IRCoT)."""

from scaar.core.queries.formulation import Formulated, FormulationRule, of_written
from scaar.core.types import QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the words of the last accepted sentence; none before the first sentence."""
    return of_written(request.accepted[-1] if request.accepted else "", room)


LAST_SENTENCE = FormulationRule(formulate)
