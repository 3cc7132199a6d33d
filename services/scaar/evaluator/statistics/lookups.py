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
    RETRIEVALS_EXCLUDING_SUPPORT,
    RETRIEVALS_LOSING_SUPPORT,
) = LOOKUPS = (
    "supports_known",
    "retrievals_with_known_supports",
    "retrievals_with_support",
    "retrievals_with_new_support",
    "supports_found",
    "all_supports_found",
    "retrievals_excluding_support",
    "retrievals_losing_support",
)
"""1 if supports are known; retrievals then; those that return a support; those that return a new
one; the share of supports returned; 1 if all are returned; retrievals that exclude a support; those
of them that return no other support."""


def lookups_of(question: Question, decisions: Sequence[Decision]) -> tuple[float, ...]:
    """Return the values of LOOKUPS for an answer."""
    supports = set(question.supports)
    if not supports:
        return (0.0,) * len(LOOKUPS)
    retrievals = [each for each in decisions if each.query is not None]
    found: set[str] = set()
    with_support = with_new = excluding = losing = 0
    for each in retrievals:
        passages = supports.intersection(each.passage_ids)
        excluded = not supports.isdisjoint(each.excluded_ids)
        with_support += bool(passages)
        with_new += bool(passages - found)
        excluding += excluded
        losing += excluded and not passages
        found |= passages
    share = len(found) / len(supports)
    return (1.0, len(retrievals), with_support, with_new, share, share == 1, excluding, losing)
