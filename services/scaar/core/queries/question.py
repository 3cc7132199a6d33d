"""The question itself, as single-round retrieval asks it."""

from scaar.core.queries.formulated import Formulated
from scaar.core.types import QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Nothing beside the question."""
    return Formulated()
