"""The draft without its uncertain words (FLARE; SCAAR's Curr-Sent)."""

from scaar.core.queries.formulation import Formulated, FormulationRule, of_draft
from scaar.core.types import QueryRequest, WordRule


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the confident words of the draft in text order."""
    confident = [position for position, word in enumerate(request.words) if not word.uncertain]
    return of_draft(request.words, confident, room)


CURRENT_SENTENCE = FormulationRule(
    formulate, needs_draft=True, masks=True, otherwise=WordRule.MAX_WORDS
)
