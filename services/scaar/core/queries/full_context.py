"""All that was written before the drafted sentence (DRAGIN's full context).

The authors' code puts the question before it, as ``include_question`` does.
"""

from scaar.core.queries.formulated import Formulated, of_written
from scaar.core.types import QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Every accepted sentence."""
    return of_written(" ".join(request.accepted), room)
