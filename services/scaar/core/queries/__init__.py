"""Query formulations, one module each, and their table."""

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.queries import (
    attention,
    attention_reference,
    bridged,
    content_words,
    current_sentence,
    entity_relation,
    full_context,
    fused,
    last_n_tokens,
    last_sentence,
    next_hop,
    pfq,
    pseudo_passage,
    question,
    span_masked,
    uncovered_question,
)
from scaar.core.queries.formulation import Formulated, FormulationRule
from scaar.core.registry import Registry
from scaar.core.text.words import join_words
from scaar.core.types import Query, QueryRequest, QuerySettings

FORMULATIONS = Registry(
    "query",
    "scaar.queries",
    FormulationRule,
    {
        "question": question.QUESTION,
        "current_sentence": current_sentence.CURRENT_SENTENCE,
        "last_sentence": last_sentence.LAST_SENTENCE,
        "last_n_tokens": last_n_tokens.LAST_N_TOKENS,
        "full_context": full_context.FULL_CONTEXT,
        "pfq": pfq.PFQ,
        "content_words": content_words.CONTENT_WORDS,
        "span_masked": span_masked.SPAN_MASKED,
        "uncovered_question": uncovered_question.UNCOVERED_QUESTION,
        "fused": fused.FUSED,
        "bridged": bridged.BRIDGED,
        "next_hop": next_hop.NEXT_HOP,
        "entity_relation": entity_relation.ENTITY_RELATION,
        "pseudo_passage": pseudo_passage.PSEUDO_PASSAGE,
        "attention": attention.ATTENTION,
        "attention_reference": attention_reference.ATTENTION_REFERENCE,
    },
)


def build_query(request: QueryRequest) -> Query:
    """Return the query: the question, if it is included, then the words of the formulation.

    White space becomes single spaces. The question is never cut; its words count against
    ``max_words`` if it is included. If the formulation returns no word, the query is the question.

    Raises:
        InvalidRequest: the question is empty, a setting is out of range, or the words lack values
            that the formulation needs.
    """
    violations = check_settings(request.settings)
    if not request.question.strip():
        violations = (Violation("question", "must not be empty"), *violations)
    if violations:
        raise InvalidRequest(violations)
    settings = request.settings
    rule = FORMULATIONS[settings.formulation]
    text, formulated = _formulate(rule, request, includes_question=settings.include_question)
    kept = set(formulated.kept)
    fused_with = ""
    if rule.fused_with is not None:
        other, second = _formulate(rule.fused_with, request, includes_question=False)
        fused_with = other if other != text else ""
        kept.update(second.kept)
    return Query(
        text=text,
        formulation=settings.formulation,
        kept=tuple(sorted(kept)),
        fell_back=not formulated.words and settings.formulation != "question",
        fused_with=fused_with,
    )


def _formulate(
    rule: FormulationRule, request: QueryRequest, *, includes_question: bool
) -> tuple[str, Formulated]:
    """Return the text of a query, and what the rule formulated of it."""
    question_words = request.question.split()
    room = request.settings.max_words - (len(question_words) if includes_question else 0)
    formulated = rule.formulate(request, max(0, room))
    included = question_words if includes_question or not formulated.words else []
    return join_words((*included, *formulated.words)), formulated


def check_settings(settings: QuerySettings) -> tuple[Violation, ...]:
    """Return the violations of query settings, with field names from the request down."""
    violations = []
    if settings.formulation not in FORMULATIONS:
        text = FORMULATIONS.unknown(settings.formulation)
        violations.append(Violation("settings.formulation", text))
    if not 0.0 < settings.alpha <= 100.0:
        violations.append(Violation("settings.alpha", "must be over 0 and at most 100 (percent)"))
    if settings.last_n_tokens < 1:
        violations.append(Violation("settings.last_n_tokens", "must be at least 1"))
    if settings.top_words < 1:
        violations.append(Violation("settings.top_words", "must be at least 1"))
    if settings.max_words < 1:
        violations.append(Violation("settings.max_words", "must be at least 1"))
    return tuple(violations)
