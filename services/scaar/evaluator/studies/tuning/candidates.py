"""The candidates of tuning: each trigger with each way of retrieving."""

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.evidence import capabilities_for
from scaar.core.policies import PRESETS
from scaar.core.queries import FORMULATIONS
from scaar.core.signals import SIGNALS, evidence_of_signals
from scaar.core.triggers import TRIGGERS, learned
from scaar.core.types import (
    Capability,
    EvidenceKind,
    ExcludeSeen,
    PolicyOverrides,
    Rerank,
    SearchMode,
)

TRIGGER_NAMES = ("flare", "exp_raw", "perplexity", "surprisal_sum", learned.NAME)
QUERY_NAMES = ("current_sentence", "span_masked")
MASKS = (0.5, 0.8)
EXCLUSIONS = (ExcludeSeen.NONE, ExcludeSeen.SEEN)
TOP_KS = (1, 3)
REFERENCE = "surprisal_sum"
"""The trigger whose answers a learned one is first fitted to."""
START = "flare"
"""The published policy of candidates whose trigger belongs to none with a query of the draft."""
BLACK_BOX = tuple(
    name for name, each in SIGNALS.items() if each.needs <= {EvidenceKind.PROBABILITIES}
)
"""The signals of learned triggers: log-probabilities suffice."""


class Label(enum.StrEnum):
    """What a learned trigger predicts of a drafted sentence."""

    WRONG = "wrong"
    """The draft states a wrong fact. The lab knows it exactly."""
    BENEFIT = "benefit"
    """The answer is better with a retrieval at this sentence than without, all before it equal.
    The trigger compares the expected benefit, that is the probability of this minus that of
    harm."""


Searches = tuple[tuple[SearchMode, ...], tuple[Rerank, ...]]
SEARCHES: Searches = ((SearchMode.INDEX,), (Rerank.NONE,))
"""The modes of a search and the orders of its passages: those of the published policies."""


@dataclass(frozen=True, slots=True)
class Retrieving:
    """What is searched for, and what the model reads: every setting except those of the trigger."""

    query: str
    mask_below: float
    exclude_seen: ExcludeSeen
    top_k: int
    search_mode: SearchMode = SearchMode.INDEX
    rerank: Rerank = Rerank.NONE
    alpha: float | None = None
    """The share of words in the query, in percent; None is that of the model or the policy."""

    @property
    def label(self) -> str:
        """The settings as text."""
        excluding = ", exclude_seen" if self.exclude_seen is not ExcludeSeen.NONE else ""
        mode = "" if self.search_mode is SearchMode.INDEX else f", mode {self.search_mode}"
        reranked = "" if self.rerank is Rerank.NONE else f", rerank {self.rerank}"
        words = "" if self.alpha is None else f", alpha {self.alpha:g}"
        text = f"{self.query}, mask_below {self.mask_below:g}, top_k {self.top_k}"
        return f"{text}{excluding}{mode}{reranked}{words}"

    @property
    def overrides(self) -> PolicyOverrides:
        """The settings of a policy that retrieves in this way."""
        excluding = self.exclude_seen is not ExcludeSeen.NONE
        return PolicyOverrides(
            query=self.query,
            alpha=self.alpha,
            mask_below=self.mask_below,
            exclude_seen=self.exclude_seen if excluding else None,
            top_k=self.top_k,
            search_mode=None if self.search_mode is SearchMode.INDEX else self.search_mode,
            rerank=None if self.rerank is Rerank.NONE else self.rerank,
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A trigger with a way of retrieving."""

    trigger: str
    retrieving: Retrieving
    label: Label | None = None
    """What a learned trigger predicts; None for other triggers."""

    @property
    def name(self) -> str:
        """The trigger, with the label of a learned one."""
        return f"{self.trigger}:{self.label}" if self.label else self.trigger

    @property
    def complexity(self) -> int:
        """The number of parts beyond a threshold on log-probabilities and the draft as query.

        A learned trigger counts twice: it has parameters, and needs labels.
        """
        return (
            2 * (self.trigger == learned.NAME)
            + bool(_evidence(self.trigger) - {EvidenceKind.PROBABILITIES})
            + (self.retrieving.query != QUERY_NAMES[0])
            + (self.retrieving.exclude_seen is not ExcludeSeen.NONE)
            + (self.retrieving.search_mode is SearchMode.HYBRID)
            + (self.retrieving.rerank is not Rerank.NONE)
        )

    @property
    def policy(self) -> str:
        """The published policy that the candidate starts from."""
        query = QUERY_NAMES[0]
        own = (
            name
            for name, preset in PRESETS.items()
            if preset.trigger == self.trigger and preset.query.formulation == query
        )
        return next(own, START)

    def overrides(self, theta: float) -> PolicyOverrides:
        """Return the settings of the candidate at a threshold."""
        own = PRESETS[self.policy].trigger == self.trigger
        trigger = None if own else self.trigger
        return replace(self.retrieving.overrides, theta=theta, trigger=trigger)


def check_parts(
    triggers: Sequence[str], queries: Sequence[str], alphas: Sequence[float] = ()
) -> None:
    """Check the triggers, the queries and the shares of words of candidates.

    Raises:
        InvalidRequest: naming every one that is unknown, given twice, out of range or cannot be
            tuned.
    """
    wrong = [
        Violation("triggers", text) for each in triggers if (text := _problem_of_trigger(each))
    ]
    wrong += [Violation("queries", text) for each in queries if (text := _problem_of_query(each))]
    wrong += [
        Violation(field, f"{name} is given twice")
        for field, names in (("triggers", triggers), ("queries", queries))
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if alphas and not wrong and not any(map(_takes_alpha, queries)):
        known = ", ".join(name for name in FORMULATIONS if _takes_alpha(name))
        wrong.append(Violation("alphas", f"needs a query of which alpha is a setting: {known}"))
    wrong += [
        Violation("alphas", f"must be above 0 and at most 100 (percent), not {each:g}")
        for each in alphas
        if not 0 < each <= 100
    ]
    if wrong:
        raise InvalidRequest(wrong)


def plan_candidates(
    triggers: Sequence[str],
    queries: Sequence[str],
    labels: Sequence[Label],
    available: frozenset[Capability],
    searches: Searches = SEARCHES,
    alphas: Sequence[float] = (),
) -> tuple[Candidate, ...]:
    """Return the candidates that a model with these capabilities can serve, simplest first.

    ``labels`` are what learned triggers predict, each one in a candidate of its own. ``searches``
    are the modes of a search, each with every order of the passages found. ``alphas`` are shares of
    words for the queries of which they are a setting, in percent; without any, candidates have that
    of the model or the policy.

    Raises:
        InvalidRequest: the model serves none of the triggers.
    """
    served = [name for name in triggers if capabilities_for(_evidence(name)) <= available]
    if not served:
        lacking = {kind.value for name in triggers for kind in _evidence(name)}
        text = f"the model provides none of the evidence that they need: {sorted(lacking)}"
        raise InvalidRequest.of("triggers", text)
    ways = [
        Retrieving(query, *others, alpha=alpha)
        for query in queries
        for alpha in (alphas if alphas and _takes_alpha(query) else (None,))
        for others in itertools.product(MASKS, EXCLUSIONS, TOP_KS, *searches)
    ]
    found = [
        Candidate(name, way, label)
        for way in ways
        for name in served
        for label in (labels if name == learned.NAME else (None,))
    ]
    return tuple(sorted(found, key=lambda each: each.complexity))


def evidence_of_triggers(triggers: Sequence[str]) -> frozenset[EvidenceKind]:
    """Return the evidence that the triggers and the signals of learned triggers need."""
    every = frozenset({EvidenceKind.PROBABILITIES})
    return every.union(*(_evidence(name) for name in triggers))


def _evidence(trigger: str) -> frozenset[EvidenceKind]:
    if trigger == learned.NAME:
        return evidence_of_signals(BLACK_BOX)
    return TRIGGERS[trigger].needs


def _takes_alpha(query: str) -> bool:
    return query in FORMULATIONS and "alpha" in FORMULATIONS[query].settings


def _problem_of_trigger(name: str) -> str:
    if name not in TRIGGERS:
        return TRIGGERS.unknown(name)
    if not _evidence(name) <= _TUNABLE:
        return f"{name} needs attention, which tuning does not draft with; use --only threshold"
    return ""


def _problem_of_query(name: str) -> str:
    if name not in FORMULATIONS:
        return FORMULATIONS.unknown(name)
    rule = FORMULATIONS[name]
    if not rule.masks or not rule.needs <= _TUNABLE:
        known = ", ".join(n for n, each in FORMULATIONS.items() if each.masks)
        return f"{name} does not mask uncertain words; use one of {known}"
    return ""


_TUNABLE = frozenset(
    {
        EvidenceKind.PROBABILITIES,
        EvidenceKind.ENTROPY,
        EvidenceKind.TOP_TOKENS,
        EvidenceKind.CONTRIBUTIONS,
        EvidenceKind.WORD_CLASSES,
    }
)
