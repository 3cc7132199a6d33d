"""The last tokens written (FL-RAG)."""

from scaar.core.queries.formulation import Formulated, FormulationRule, of_written
from scaar.core.types import QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the words of the last ``last_n_tokens`` tokens; the first may begin within a word."""
    recent = request.recent_tokens[-request.settings.last_n_tokens :]
    return of_written("".join(recent), room)


LAST_N_TOKENS = FormulationRule(formulate, settings=frozenset({"last_n_tokens"}))
