"""The words of question and answer to which the trigger attends most (DRAGIN's QFS, 3.2)."""

from collections.abc import Sequence

from scaar.core.queries.formulation import Formulated, FormulationRule
from scaar.core.types import AttendedWord, EvidenceKind, QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the ``top_words`` of these words in text order, ties by position."""
    return Formulated(most_attended(request.attended, min(room, request.settings.top_words)))


def most_attended(words: Sequence[AttendedWord], count: int) -> tuple[str, ...]:
    """Return the ``count`` words with the largest attention, in their order."""
    ranked = sorted(range(len(words)), key=lambda at: (-words[at].attention, at))
    return tuple(words[at].text for at in sorted(ranked[:count]))


ATTENTION = FormulationRule(
    formulate,
    frozenset({EvidenceKind.ATTENTION}),
    needs_draft=True,
    settings=frozenset({"top_words"}),
)
