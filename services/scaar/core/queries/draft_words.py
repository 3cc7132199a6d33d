"""The words of a draft for its query: which of them the query has, and why it lacks the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from scaar.core.queries import FORMULATIONS
from scaar.core.queries.formulation import FormulationRule, by_contribution
from scaar.core.queries.pfq import cut_off
from scaar.core.types import (
    EvidenceKind,
    JudgedWord,
    Query,
    QuerySettings,
    QueryWord,
    WordRule,
)


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The words of a draft for its query, in order.

    ``cut_off`` is the largest rank by contribution in the query; None unless the formulation ranks
    the words.
    """

    words: tuple[QueryWord, ...]
    cut_off: int | None = None


NO_QUERY_WORDS = QueryWords(())
"""Those of a query that is not of the words of a draft."""


def masked_words(words: tuple[JudgedWord, ...], below: float | None) -> tuple[JudgedWord, ...]:
    """Return the words of a query; those with a lower probability are uncertain, if it is given."""
    if below is None:
        return words
    return tuple(replace(each, uncertain=(each.probability or 0.0) < below) for each in words)


def without_contributions(settings: QuerySettings) -> QuerySettings:
    """Return the settings for a draft without contributions: a query of its confident words.

    A formulation that does not need contributions stays.
    """
    if EvidenceKind.CONTRIBUTIONS not in FORMULATIONS[settings.formulation].needs:
        return settings
    return replace(settings, formulation="current_sentence")


def uses_draft(formulation: str) -> bool:
    """Return whether a formulation chooses among the words of the draft by their judgement."""
    rule = FORMULATIONS.get(formulation)
    return rule is not None and rule.needs_draft and EvidenceKind.ATTENTION not in rule.needs


def query_words(words: Sequence[JudgedWord], query: Query, settings: QuerySettings) -> QueryWords:
    """Return the words of a draft for the query that was built of them with the settings.

    ``words`` are those of :func:`masked_words`; they and the query can lack their texts.
    """
    if not uses_draft(query.formulation):
        return NO_QUERY_WORDS
    rule, kept = FORMULATIONS[query.formulation], frozenset(query.kept)
    ranks, last = _ranks(rule, words, settings)
    otherwise = rule.otherwise
    if otherwise is not WordRule.MAX_WORDS and _may_be_full(words, query, settings):
        otherwise = WordRule.OTHER
    found = []
    for at, word in enumerate(words):
        rank, rules = ranks.get(at), list[WordRule]()
        if rule.masks and word.uncertain:
            rules.append(WordRule.UNCERTAIN)
        if rank is not None and last is not None and rank > last:
            rules.append(WordRule.CONTRIBUTION)
        if at not in kept:
            rules = rules or [otherwise]
        elif rule.fused_with is None:
            rules = []
        found.append(QueryWord(at in kept, tuple(rules), rank))
    return QueryWords(tuple(found), last)


def _ranks(
    rule: FormulationRule, words: Sequence[JudgedWord], settings: QuerySettings
) -> tuple[dict[int, int], int | None]:
    """Return the ranks by contribution, by position, and the cut-off; none if they are unknown."""
    known = all(word.contribution is not None for word in words)
    if "alpha" not in rule.settings or not words or not known:
        return {}, None
    ranked = by_contribution(words, range(len(words)))
    ranks = {position: rank for rank, position in enumerate(ranked, start=1)}
    return ranks, cut_off(settings.alpha, len(words))


def _may_be_full(words: Sequence[JudgedWord], query: Query, settings: QuerySettings) -> bool:
    """Return whether the query may lack words because of its maximum number of words."""
    kept = [words[at] for at in query.kept]
    # Adjacent parts of a word are joined in the text.
    joined = sum(word.start == before.end for before, word in pairwise(kept))
    others = len(query.text.split()) - (len(kept) - joined)
    return others < 0 or len(kept) + others >= settings.max_words
