"""Support recall: whether the retrievals of an answer return its supporting passages.

Only questions with known supports count; every column of the others is 0.
"""

from collections.abc import Sequence

from scaar.evaluator.records import Decision, Question

(
    SUPPORTS_KNOWN,
    RETRIEVALS_WITH_KNOWN_SUPPORTS,
    RETRIEVALS_WITH_SUPPORT,
    RETRIEVALS_WITH_NEW_SUPPORT,
    SUPPORTS_FOUND,
    ALL_SUPPORTS_FOUND,
) = LOOKUPS = (
    "supports_known",
    "retrievals_with_known_supports",
    "retrievals_with_support",
    "retrievals_with_new_support",
    "supports_found",
    "all_supports_found",
)
"""1 if supports are known; retrievals then; those that return a support; those that return a new
one; the share of supports returned; 1 if all are returned."""


def lookups_of(question: Question, decisions: Sequence[Decision]) -> tuple[float, ...]:
    """Return the values of LOOKUPS for an answer."""
    supports = set(question.supports)
    if not supports:
        return (0.0,) * len(LOOKUPS)
    retrievals = [set(each.passage_ids) for each in decisions if each.query is not None]
    found: set[str] = set()
    with_support = with_new = 0
    for passages in retrievals:
        with_support += bool(passages & supports)
        with_new += bool(passages & supports - found)
        found |= passages & supports
    share = len(found) / len(supports)
    return (1.0, len(retrievals), with_support, with_new, share, share == 1)
