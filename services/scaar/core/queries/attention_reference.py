"""DRAGIN's query as its authors' code forms it.

It uses the attention of the tokens before the words that triggered, averaged over these words, and
content words only. A query that is too long keeps its last words.
"""

from scaar.core.queries.attention import most_attended
from scaar.core.queries.formulation import Formulated, FormulationRule
from scaar.core.text.word_classes import WordClass, word_classes
from scaar.core.types import EvidenceKind, QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the ``top_words`` content words in text order."""
    classes = word_classes([word.text for word in request.attended])
    content = [
        word
        for word, each in zip(request.attended, classes, strict=True)
        if each is WordClass.CONTENT
    ]
    words = most_attended(content, request.settings.top_words)
    return Formulated(words[max(0, len(words) - room) :])


ATTENTION_REFERENCE = FormulationRule(
    formulate,
    frozenset({EvidenceKind.ATTENTION}),
    needs_draft=True,
    settings=frozenset({"top_words"}),
    reads_again=True,
    uses_word_classes=True,
)
