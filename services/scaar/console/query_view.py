"""The words of a draft for its query: which of them the query has, and by which rule."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaar.console.data_tables import Cell, Column, DataTable, Mark, data_table
from scaar.console.words import number
from scaar.core.queries.draft_words import masked_words, query_words
from scaar.core.types import (
    EffectivePolicy,
    JudgedWord,
    Query,
    QueryWord,
    SentenceJudged,
    WordRule,
)

_WORD = Column("Word", "A word of the draft, with its punctuation.")
_IN_QUERY = Column("In the query", "Whether the query has the word.")
_RULE = Column("Rule", "Why the query has the word, or every rule that leaves it out.")
_RANK = Column(
    "Rank",
    "Rank of the word by contribution r, from 1. The query can have words up to the cut-off, which "
    "is alpha percent of the words, rounded up.",
    number=True,
)


@dataclass(frozen=True, slots=True)
class QueryWordView:
    """A word of the draft: whether the query has it, with the reasons; 0 without a rank."""

    text: str
    kept: bool
    reasons: tuple[str, ...]
    rank: int


@dataclass(frozen=True, slots=True)
class QueryView:
    """The rule of a query in one sentence, the words of its draft, and the same as a table."""

    rule: str
    words: tuple[QueryWordView, ...]
    table: DataTable


def query_view(query: Query, judged: SentenceJudged, policy: EffectivePolicy) -> QueryView | None:
    """Return the words of a judged draft for its query; None if the query is not of them."""
    words = masked_words(judged.words, policy.mask_below)
    found = query_words(words, query, policy.query)
    if not found.words:
        return None
    views = tuple(
        QueryWordView(
            word.text,
            each.kept,
            _reasons(word, each, policy, _place(word, each, found.cut_off, len(words))),
            each.rank or 0,
        )
        for word, each in zip(words, found.words, strict=True)
    )
    rule = ""
    if found.cut_off is not None:
        rule = (
            f"The query can have the words with the {found.cut_off} largest of {len(words)} "
            f"contributions (alpha {policy.query.alpha:g}%), without the uncertain ones."
        )
    return QueryView(rule, views, _table(views, found.cut_off))


def _table(views: Sequence[QueryWordView], cut_off: int | None) -> DataTable:
    rank = [] if cut_off is None else [replace(_RANK, unit=f"cut-off {cut_off}")]
    columns = [_WORD, _IN_QUERY, *rank, _RULE]
    rows = []
    for each in views:
        mark = Mark("taken", "good") if each.kept else Mark("left out")
        row = [Cell(each.text, foreign=True), Cell(marks=(mark,))]
        if cut_off is not None:
            row.append(Cell(str(each.rank)))
        rows.append([*row, Cell("; ".join(each.reasons) or "–")])
    return data_table("Words of the draft for the query", columns, rows)


def _reasons(
    word: JudgedWord, of_query: QueryWord, policy: EffectivePolicy, place: str
) -> tuple[str, ...]:
    """Return why the query has or lacks a word, with the numbers that decide.

    ``place`` is the rank of the word and the cut-off; empty without ranks.
    """
    rules, found = of_query.left_out_by, list[str]()
    if WordRule.UNCERTAIN in rules:
        found.append(_uncertainty(word, policy))
    elif of_query.kept and not word.uncertain:
        found.append(f"not uncertain (P′ {number(word.probability)})")
    found += [place] if place else []
    found += [_RULES[each] for each in rules if each in _RULES]
    if of_query.kept and rules:
        found.append("in the second text of the query only")
    return tuple(found)


def _place(word: JudgedWord, of_query: QueryWord, cut_off: int | None, words: int) -> str:
    if of_query.rank is None or cut_off is None:
        return ""
    side = "within" if of_query.rank <= cut_off else "above"
    contribution = f"contribution r {number(word.contribution)}"
    return f"rank {of_query.rank} of {words} by {contribution}, {side} the cut-off {cut_off}"


def _uncertainty(word: JudgedWord, policy: EffectivePolicy) -> str:
    if policy.mask_below is not None:
        return f"uncertain: P′ {number(word.probability)} is below mask_below {policy.mask_below:g}"
    if word.value is not None:
        return f"uncertain: value {number(word.value)} is above {number(word.threshold)}"
    if word.probability is None:
        return "uncertain: P′ is unknown"
    return f"uncertain: P′ {number(word.probability)} is below {number(word.threshold)}"


_RULES = {
    WordRule.WORD_CLASS: "no noun, adjective, verb or number",
    WordRule.SPAN: "part of a name, date or number with an uncertain word",
    WordRule.ENTITY: "part of an entity that is not the head of the sentence",
    WordRule.MAX_WORDS: "the query has its maximum number of words (max_words)",
    WordRule.OTHER: "left out by the formulation",
}
"""The rules without numbers."""
