"""What the retrievals of an answer brought of the passages that hold it.

Only questions whose supports are known count; of the others every column is 0.
"""

from collections.abc import Sequence

from scaar.evaluator.records import Decision, Question

(
    SUPPORTS_KNOWN,
    RETRIEVALS_TOLD,
    RETRIEVALS_WITH_SUPPORT,
    RETRIEVALS_WITH_NEW_SUPPORT,
    SUPPORTS_FOUND,
    ALL_SUPPORTS_FOUND,
) = LOOKUPS = (
    "supports_known",
    "retrievals_told",
    "retrievals_with_support",
    "retrievals_with_new_support",
    "supports_found",
    "all_supports_found",
)
"""1 where supports are known; retrievals there; those that brought a support; those that brought
one for the first time; the share of the supports that were brought; 1 where all were."""


def lookups_of(question: Question, decisions: Sequence[Decision]) -> tuple[float, ...]:
    """The values of LOOKUPS for an answer."""
    supports = set(question.supports)
    if not supports:
        return (0.0,) * len(LOOKUPS)
    retrievals = [set(each.passage_ids) for each in decisions if each.query is not None]
    found: set[str] = set()
    with_support = with_new = 0
    for brought in retrievals:
        with_support += bool(brought & supports)
        with_new += bool(brought & supports - found)
        found |= brought & supports
    share = len(found) / len(supports)
    return (1.0, len(retrievals), with_support, with_new, share, share == 1)
