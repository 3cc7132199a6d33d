"""The what-if form of an answer: its triggers, the range of its threshold, and the outcome."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scaar.console.what_if_cost import Cost, costs_of
from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound, ScaarError, WrongState
from scaar.core.policies import PRESETS
from scaar.core.ports import Records
from scaar.core.records import AnswerRecord, ExplainRecordRequest, RecordExplanation
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    AnswerStarted,
    EffectivePolicy,
    PolicyDescription,
    PolicyOverrides,
    QueryBuilt,
    SentenceJudged,
)

_PUBLISHED = tuple(each for each in PRESETS if PRESETS[each].trigger is not None)
_JUDGING_SETTINGS = ("theta_cap", "granularity", "spare_stop_words")
"""The settings beside trigger and threshold by which a tuned policy judges."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The form and its outcome: either the judgements ``found``, or the ``problem``.

    An empty ``policy`` is that of the record, an empty ``trigger`` that of the policy. ``moved`` is
    whether policy or trigger differ from those of the form that was sent. ``searches`` are those of
    the drafts up to the first decision that differs, ``costs`` what the record shows beside.
    """

    policies: tuple[str, ...]
    policy: str
    triggers: tuple[str, ...]
    own_trigger: str
    trigger: str
    theta: float
    minimum: float
    maximum: float
    moved: bool = False
    found: RecordExplanation | None = None
    searches: int = 0
    costs: tuple[Cost, ...] = ()
    problem: str = ""
    judges: bool = True
    """Whether the answer has drafts that can be judged again."""

    @property
    def chosen(self) -> str:
        """Policy and trigger in one text, to recognize whether they change."""
        return f"{self.policy} {self.trigger}"


@dataclass(frozen=True, slots=True)
class _Judging:
    """The policy that judges: its trigger, its threshold, and how the records are asked for it."""

    trigger: str
    theta: float
    name: str
    overrides: Mapping[str, Any]


def is_published(name: str) -> bool:
    """Return whether the form has the policy without the tuned policies of the installation."""
    return not name or name in _PUBLISHED


async def judge_again(
    records: Records,
    record: AnswerRecord,
    form: Mapping[str, str],
    tuned: Sequence[PolicyDescription] = (),
) -> WhatIf:
    """Return the outcome of the form for a record.

    ``tuned`` are the tuned policies of the installation.

    Raises:
        ScaarError: the records cannot be read.
    """
    started = next((each for each in record.events if isinstance(each, AnswerStarted)), None)
    if started is None:
        return replace(_without("The answer failed before it started."), judges=False)
    policies = (*_PUBLISHED, *(each.name for each in tuned if each.policy.trigger is not None))
    name = form.get("policy", "")
    if name and name not in policies:
        return _without(f"There is no policy {name} that judges drafts.")
    judging = _judging(record, started.provenance.policy, name, tuned)
    if judging is None:
        text = f"The policy {started.provenance.policy.name} has no trigger: it judges no drafts."
        return replace(_without(text), judges=False)
    trigger = form.get("trigger") or judging.trigger
    if trigger not in TRIGGERS:
        return _without(f"There is no trigger {trigger}.")
    own = trigger == judging.trigger
    default = judging.theta if own else TRIGGERS[trigger].theta.default
    form_of = WhatIf(
        policies, name, tuple(TRIGGERS), judging.trigger, "" if own else trigger, default, 0, 1
    )
    moved = form.get("was", form_of.chosen) != form_of.chosen
    given = "" if moved else form.get("theta", "").strip()
    try:
        theta = float(given) if given else default
    except ValueError:
        theta = math.nan
    minimum, maximum = _range(trigger, theta if math.isfinite(theta) else default, record)
    form_of = replace(form_of, theta=theta, minimum=minimum, maximum=maximum, moved=moved)
    if not math.isfinite(theta):
        text = f"The threshold must be a number, not {given[:40]}."
        return replace(form_of, theta=default, problem=text)
    overrides = PolicyOverrides(theta=theta, **(judging.overrides if own else {"trigger": trigger}))
    request = ExplainRecordRequest(record.summary.id, judging.name, overrides)
    try:
        found = await records.explain_record(request)
    except (InvalidRequest, WrongState, NotFound, DataCorrupt) as error:
        return replace(form_of, problem=_text_of(error))
    searches, costs = _searches(record, found), costs_of(record, found)
    return replace(form_of, found=found, searches=searches, costs=costs)


def _judging(
    record: AnswerRecord, recorded: EffectivePolicy, name: str, tuned: Sequence[PolicyDescription]
) -> _Judging | None:
    """Return how the named policy judges, the one of the record without a name; None if it cannot.

    The service of records knows the published policies only: a tuned one is requested as the policy
    that it starts from with its settings, or as that of the record if the record has its digest.
    """
    if not name:
        return _Judging(recorded.trigger, recorded.theta, "", {}) if recorded.trigger else None
    found = next((each for each in tuned if each.name == name), None)
    if found is None:
        trigger = PRESETS[name].trigger or ""
        return _Judging(trigger, TRIGGERS[trigger].theta.default, name, {})
    policy, artefact = found.policy, found.artefact
    if artefact is None or policy.trigger is None:
        return None
    of_record = record.summary.artefact_digest == artefact.digest
    effective = dict(policy.sources)
    settings = {each: getattr(policy, each) for each in _JUDGING_SETTINGS if each in effective}
    overrides = {"trigger": policy.trigger, **settings}
    return _Judging(policy.trigger, policy.theta, "" if of_record else artefact.policy, overrides)


def _searches(record: AnswerRecord, found: RecordExplanation) -> int:
    """Return the searches of the drafts up to the first decision that differs, and with it.

    The drafts after it would have been other ones: the number is a lower bound for a new answer.
    """
    recorded, total = _recorded_searches(record), 0
    for each in found.drafts:
        made = next(recorded, 1) if each.recorded_retrieving else 1
        if each.judged.retrieving:
            total += made
        if each.judged.retrieving != each.recorded_retrieving:
            break
    return total


def _recorded_searches(record: AnswerRecord) -> Iterator[int]:
    """Yield the searches of each retrieval after a draft; one whose query is fused makes two."""
    awaited = False
    for event in record.events:
        match event:
            case SentenceJudged():
                if awaited:
                    yield 1
                awaited = event.retrieving
            case QueryBuilt() if awaited:
                yield 2 if event.query.fused_with else 1
                awaited = False
            case _:
                pass


def _text_of(error: ScaarError) -> str:
    if isinstance(error, InvalidRequest):
        return "; ".join(f"{each.field}: {each.description}" for each in error.violations)
    return error.message


def _without(problem: str) -> WhatIf:
    return WhatIf((), "", (), "", "", 0.0, 0.0, 1.0, problem=problem)


def _range(trigger: str, theta: float, record: AnswerRecord) -> tuple[float, float]:
    """Return the ends of the slider: the range of the trigger, cut to where decisions change."""
    limits = TRIGGERS[trigger].theta
    minimum = limits.minimum if limits.minimum is not None else limits.maximum / 1000
    scores = [
        event.score
        for event in record.events
        if isinstance(event, SentenceJudged) and event.score is not None
    ]
    if limits.maximum <= 1.0:
        return round(min(minimum, 0.001), 6), 1.0
    largest = max([theta, *scores, minimum])
    return minimum if limits.minimum is not None else 0.001, min(limits.maximum, 2 * largest)
