"""Oracles: triggers and a query that know the facts of a lab world.

They bound what a trigger or a query can gain, and run in evaluations only: no request outside the
block of :func:`oracle_parts` can name them, and they judge drafts only in the block of
:func:`in_world`.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING

from scaar.core.distributions import lab_is_installed
from scaar.core.errors import ScaarError
from scaar.core.evidence import DraftContext, Evidence
from scaar.core.policies import PRESETS
from scaar.core.policies.preset import Preset
from scaar.core.queries import FORMULATIONS
from scaar.core.queries.formulation import Formulated, FormulationRule
from scaar.core.triggers import TRIGGERS, Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.sentence_threshold import judge
from scaar.core.types import (
    EffectivePolicy,
    EvidenceKind,
    Moment,
    PolicyRequest,
    QueryRequest,
    QuerySettings,
)
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.results import DatasetOrigin

if TYPE_CHECKING:
    from scaar.lab.reading import WorldFacts

ORACLE_ERROR, PLANNED, ORACLE = "oracle_error", "planned", "oracle"
ORACLES = frozenset({ORACLE_ERROR, PLANNED})
"""The policies."""
MAX_PLANNED_SENTENCES = 20
"""Number of sentences from the start of an answer that a plan covers."""

_FACTS: ContextVar[Callable[[], "WorldFacts"] | None] = ContextVar("facts", default=None)


@contextmanager
def oracle_parts() -> Iterator[None]:
    """Add the policies ``oracle_error`` and ``planned`` and the query ``oracle`` within the block.

    ``oracle_error`` retrieves if the draft states a false fact. ``planned`` retrieves at given
    sentences: bit n of theta - 1 is set for sentence n, from 0. The query is the name of the
    subject of the draft's fact. A block within another changes nothing.
    """
    if PLANNED in PRESETS:
        yield
        return
    with ExitStack() as stack:
        stack.enter_context(TRIGGERS.with_parts(_TRIGGERS))
        stack.enter_context(FORMULATIONS.with_parts({ORACLE: _QUERY}))
        stack.enter_context(PRESETS.with_parts(_PRESETS))
        yield


@contextmanager
def in_world(dataset: DatasetOrigin) -> Iterator[None]:
    """Judge drafts in the block by the facts of the lab's world; of other data sets, by none."""
    facts = None
    if dataset.name == LAB.name and lab_is_installed():
        from scaar.lab.reading import facts_of

        facts = partial(facts_of, dataset.seed)
    token = _FACTS.set(facts)
    try:
        yield
    finally:
        _FACTS.reset(token)


def needs_world(policy: PolicyRequest) -> bool:
    """Return whether a policy is an oracle, or has the trigger or the query of one."""
    overrides = policy.overrides
    return not ORACLES.isdisjoint((policy.name, overrides.trigger)) or overrides.query == ORACLE


def current_facts() -> "WorldFacts | None":
    """Return the facts of the world of the block; None outside a lab world."""
    facts = _FACTS.get()
    return facts() if facts else None


def plan_of(sentences: set[int]) -> float:
    """Return the theta at which ``planned`` retrieves at these sentences, numbered from 0.

    Raises:
        ValueError: a number is out of range.
    """
    if not sentences <= set(range(MAX_PLANNED_SENTENCES)):
        raise ValueError(f"sentences must be 0 to {MAX_PLANNED_SENTENCES - 1}, not {sentences}")
    return float(1 + sum(1 << sentence for sentence in sentences))


def _judge_error(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    context = _context(evidence)
    wrong = _facts_about(context.question).is_right(context.text) is False
    return _judge(evidence, policy, 2.0 if wrong else 0.0)


def _judge_planned(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    planned = (int(policy.theta) - 1) >> _context(evidence).sentence & 1
    return _judge(evidence, policy, policy.theta + 1.0 if planned else 0.0)


def _judge(evidence: Evidence, policy: EffectivePolicy, value: float) -> Judgement:
    weights = [-(probability or 0.0) for probability in evidence.probabilities]
    return judge(evidence, policy, value, weights=weights)


def _formulate(request: QueryRequest, room: int) -> Formulated:
    text = " ".join(word.text for word in request.words)
    query = _facts_about(request.question).query(text) or ""
    return Formulated(tuple(query.split()[:room]))


def _context(evidence: Evidence) -> DraftContext:
    if evidence.context is None:
        raise ScaarError("an oracle judges drafts of an answer only")
    return evidence.context


def _facts_about(question: str) -> "WorldFacts":
    facts = current_facts()
    if facts is None:
        raise ScaarError(f"an oracle needs the questions of the data set {LAB.name}")
    if not facts.mentions(question):
        raise ScaarError(f"the question is not about the lab world of seed {facts.seed}")
    return facts


_PROBABILITIES = frozenset({EvidenceKind.PROBABILITIES})
_TRIGGERS = {
    ORACLE_ERROR: TriggerRule(
        _judge_error, ThetaRange(1.0, minimum=1.0), _PROBABILITIES, by_word=False
    ),
    PLANNED: TriggerRule(
        _judge_planned,
        ThetaRange(1.0, maximum=2.0**MAX_PLANNED_SENTENCES, minimum=1.0),
        _PROBABILITIES,
        by_word=False,
    ),
}
_QUERY = FormulationRule(_formulate, needs_draft=True)
_PRESETS = {
    name: Preset(
        name=name,
        moments=(Moment.UNCERTAIN_DRAFT,),
        trigger=name,
        query=QuerySettings("current_sentence", include_question=False),
    )
    for name in _TRIGGERS
}
