"""The draft without its uncertain names, dates and numbers: the project's own masked sentence.

FLARE's masked sentence (``current_sentence``) keeps the confident words of a made-up name, which
find passages about others of that name. Here one uncertain word removes its whole value span
(:mod:`scaar.core.text.spans`); an uncertain word outside of a span is removed alone.
"""

from scaar.core.queries.formulation import Formulated, FormulationRule, of_draft
from scaar.core.text.spans import value_spans
from scaar.core.text.word_classes import tags_of
from scaar.core.types import QueryRequest, WordRule


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the words of the draft that are confident and in no uncertain span, in text order."""
    masked = {position for position, word in enumerate(request.words) if word.uncertain}
    texts = [word.text for word in request.words]
    if masked:
        for start, end in value_spans(texts, tags_of(texts)):
            span = range(start, end)
            if not masked.isdisjoint(span):
                masked.update(span)
    kept = [position for position in range(len(texts)) if position not in masked]
    return of_draft(request.words, kept, room)


SPAN_MASKED = FormulationRule(
    formulate,
    needs_draft=True,
    masks=True,
    uses_word_classes=True,
    otherwise=WordRule.SPAN,
)
