"""How often each trigger comes out best, everything else being equal (SCAAR, Figure 2).

A contest is a model, a kind of question, a theta and a query; the triggers take part in it.
Those of several evaluations are counted together.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from scaar.core.triggers import TRIGGERS
from scaar.core.triggers.rule import PROBABILITY
from scaar.core.types import EffectivePolicy, Formulation, QuerySettings

Contest = Mapping[str, float]
"""The score of each that takes part."""

_EQUAL = 1e-12


def win_counts(contests: Iterable[Contest]) -> dict[str, float]:
    """The contests that each has won; n that are equally good have each won 1 / n of it.

    A contest of fewer than two is none. Who never wins is there, with 0.
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
    """The contests among the policies that judge: of each, the positions by trigger.

    Those meet that are equal in theta, query and every other value, what is the trigger's own
    aside. Where thetas were ``placed`` at quantiles of each trigger's scores, they are equal at
    equal places: there as many drafts are looked up for.
    """
    places = _places(policies) if placed else {}
    met: defaultdict[tuple[object, ...], dict[str, int]] = defaultdict(dict)
    for position, policy in enumerate(policies):
        if policy is not None and policy.trigger is not None:
            theta = places.get((_judging(policy), policy.theta), policy.theta)
            spares = policy.spare_stop_words == TRIGGERS[policy.trigger].spares_stop_words
            judged = (theta, policy.granularity, spares)
            met[(*judged, *_asked(policy.query), policy.top_k)].setdefault(
                policy.trigger.value, position
            )
    return tuple(contest for contest in met.values() if len(contest) > 1)


def _places(
    policies: Sequence[EffectivePolicy | None],
) -> dict[tuple[tuple[object, ...], float], int]:
    """The place of each theta among those of equal judges, the most sparing one first."""
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
    return policy.trigger, policy.granularity, policy.spare_stop_words


def _asked(query: QuerySettings) -> tuple[object, ...]:
    """What a query is, without the values that mean nothing to it."""
    by_words = (query.alpha, query.word_order) if query.formulation is Formulation.PFQ else ()
    last = (query.last_n_tokens,) if query.formulation is Formulation.LAST_N_TOKENS else ()
    attended = (query.top_words,) if query.formulation is Formulation.ATTENTION else ()
    return (query.formulation, query.include_question, *by_words, *last, *attended)
