"""What the question still asks for, and the confident words of the draft: the project's own.

A question of several hops names entities that accepted sentences have already dealt with. The query
has the words of the question that no accepted sentence contains, without regard to case,
punctuation and possessive endings, in their order, then the draft without its uncertain words.
"""

from scaar.core.queries.formulation import Formulated, FormulationRule, of_draft
from scaar.core.text.words import bare_word
from scaar.core.types import QueryRequest, WordRule


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the uncovered words of the question, then the confident words of the draft."""
    stated = {bare_word(word) for sentence in request.accepted for word in sentence.split()}
    uncovered = [word for word in request.question.split() if bare_word(word) not in stated][:room]
    confident = [position for position, word in enumerate(request.words) if not word.uncertain]
    of_words = of_draft(request.words, confident, room - len(uncovered))
    return Formulated((*uncovered, *of_words.words), of_words.kept)


UNCOVERED_QUESTION = FormulationRule(
    formulate, needs_draft=True, masks=True, otherwise=WordRule.MAX_WORDS
)
