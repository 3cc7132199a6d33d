"""How often each trigger is the best, all else equal (SCAAR, Figure 2).

A contest compares the triggers for one model, kind of question, theta and query. The contests of
several evaluations are counted together.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from scaar.core.queries import FORMULATIONS
from scaar.core.triggers import TRIGGERS
from scaar.core.triggers.rule import PROBABILITY
from scaar.core.types import EffectivePolicy, QuerySettings

Contest = Mapping[str, float]
"""The score of each trigger in the contest."""

_EQUAL = 1e-12


def win_counts(contests: Iterable[Contest]) -> dict[str, float]:
    """Return the contests that each trigger has won; a tie of n counts 1 / n for each.

    Contests of fewer than two triggers are skipped. A trigger that never wins has 0.
    """
    won: dict[str, float] = {}
    for contest in contests:
        if len(contest) < 2:
            continue
        best = max(contest.values())
        winners = [name for name, score in contest.items() if score >= best - _EQUAL]
        for name in contest:
            won[name] = won.get(name, 0.0) + (name in winners) / len(winners)
    return won


def contests(
    policies: Sequence[EffectivePolicy | None], *, placed: bool = False
) -> tuple[dict[str, int], ...]:
    """Return the contests among the policies that judge: the positions by trigger.

    A contest has policies with equal theta, query and other values, except those of the trigger.
    Thetas ``placed`` at quantiles of each trigger's scores are equal at equal places: the same
    number of drafts is retrieved for.
    """
    places = _places(policies) if placed else {}
    met: defaultdict[tuple[object, ...], dict[str, int]] = defaultdict(dict)
    for position, policy in enumerate(policies):
        if policy is not None and policy.trigger is not None:
            theta = places.get((_judging(policy), policy.theta), policy.theta)
            spares = policy.spare_stop_words == TRIGGERS[policy.trigger].spares_stop_words
            judged = (theta, policy.granularity, spares)
            met[(*judged, *_query_key(policy.query), policy.mask_below, policy.top_k)].setdefault(
                policy.trigger, position
            )
    return tuple(contest for contest in met.values() if len(contest) > 1)


def _places(
    policies: Sequence[EffectivePolicy | None],
) -> dict[tuple[tuple[object, ...], float], int]:
    """Return the place of each theta among those of equal judges, the rarest trigger first."""
    thetas: defaultdict[tuple[object, ...], set[float]] = defaultdict(set)
    by_probability: dict[tuple[object, ...], bool] = {}
    for policy in policies:
        if policy is not None and policy.trigger is not None:
            thetas[_judging(policy)].add(policy.theta)
            by_probability[_judging(policy)] = TRIGGERS[policy.trigger].theta is PROBABILITY
    return {
        (judge, theta): place
        for judge, found in thetas.items()
        for place, theta in enumerate(sorted(found, reverse=not by_probability[judge]))
    }


def _judging(policy: EffectivePolicy) -> tuple[object, ...]:
    return policy.trigger, policy.granularity, policy.spare_stop_words, policy.attention_span


def _query_key(query: QuerySettings) -> tuple[object, ...]:
    """Return the values of a query, without those that have no effect on it."""
    rule = FORMULATIONS.get(query.formulation)
    names = sorted(rule.settings) if rule else ()
    used = (getattr(query, name) for name in names)
    return (query.formulation, query.include_question, *used)
