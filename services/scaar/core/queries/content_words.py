"""The content words of the draft, except uncertain ones."""

from scaar.core.queries.formulation import Formulated, FormulationRule, of_draft
from scaar.core.text.word_classes import WordClass, word_classes
from scaar.core.types import QueryRequest, WordRule


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the confident nouns, adjectives, verbs, proper nouns and numbers in text order."""
    classes = word_classes([word.text for word in request.words])
    kept = [
        position
        for position, word in enumerate(request.words)
        if classes[position] is WordClass.CONTENT and not word.uncertain
    ]
    return of_draft(request.words, kept, room)


CONTENT_WORDS = FormulationRule(
    formulate,
    needs_draft=True,
    masks=True,
    uses_word_classes=True,
    otherwise=WordRule.WORD_CLASS,
)
