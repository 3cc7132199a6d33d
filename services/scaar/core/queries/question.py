"""The question itself, the query of single-round retrieval."""

from scaar.core.queries.formulation import Formulated, FormulationRule
from scaar.core.types import QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return no words: the query is the question."""
    return Formulated()


QUESTION = FormulationRule(formulate)
