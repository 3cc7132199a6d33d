"""The head of the sentence and its relation, without the tail (QuCo-RAG, arXiv 2512.19134).

The head is the first entity of the sentence, or if its only entity is not in the question, the
entities of the question (:mod:`scaar.core.text.entities`). The relation is all words that belong to
no entity. An extracted triple would have the relation alone.
"""

from scaar.core.queries.formulation import Formulated, FormulationRule, of_draft
from scaar.core.text.entities import statement_of
from scaar.core.types import QueryRequest, WordRule


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the head, then the words of the draft that belong to no entity; none without one."""
    stated = statement_of(request.question, [word.text for word in request.words])
    if not stated.entities:
        return Formulated()
    heads = tuple(word for each in stated.heads for word in each.split())[:room]
    tails = {at for span in stated.tails for at in range(*span)}
    kept = [at for at in range(len(request.words)) if at not in tails]
    of_words = of_draft(request.words, kept, room - len(heads))
    return Formulated((*heads, *of_words.words), of_words.kept)


ENTITY_RELATION = FormulationRule(
    formulate, needs_draft=True, uses_word_classes=True, otherwise=WordRule.ENTITY
)
