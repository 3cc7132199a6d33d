"""All text before the draft (DRAGIN's full context).

The authors' code puts the question first, as ``include_question`` does.
"""

from scaar.core.queries.formulation import Formulated, FormulationRule, of_written
from scaar.core.types import QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the words of every accepted sentence."""
    return of_written(" ".join(request.accepted), room)


FULL_CONTEXT = FormulationRule(formulate)
