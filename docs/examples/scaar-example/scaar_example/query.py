"""A query: the capitalised words of the draft."""

from scaar.extensions import Formulated, FormulationRule, QueryRequest, of_draft


def _formulate(request: QueryRequest, room: int) -> Formulated:
    names = [position for position, word in enumerate(request.words) if word.text[:1].isupper()]
    return of_draft(request.words, names, room)


NAMES = FormulationRule(_formulate, needs_draft=True, includes_question=True)
