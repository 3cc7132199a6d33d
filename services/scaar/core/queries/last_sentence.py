"""The sentence accepted last (FS-RAG, IRCoT)."""

from scaar.core.queries.formulated import Formulated, of_written
from scaar.core.types import QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """The last accepted sentence; nothing before the first."""
    return of_written(request.accepted[-1] if request.accepted else "", room)
