"""The what-if form of an answer: its triggers, the range of its threshold, and the outcome."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound, ScaarError, WrongState
from scaar.core.policies import PRESETS
from scaar.core.ports import Records
from scaar.core.records import AnswerRecord, ExplainRecordRequest, RecordExplanation
from scaar.core.triggers import TRIGGERS
from scaar.core.types import AnswerStarted, PolicyOverrides, SentenceJudged

_POLICIES = tuple(each for each in PRESETS if PRESETS[each].trigger is not None)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The form and its outcome: either the judgements ``found``, or the ``problem``.

    An empty ``policy`` is that of the record, an empty ``trigger`` that of the policy.
    """

    policies: tuple[str, ...]
    policy: str
    triggers: tuple[str, ...]
    own_trigger: str
    trigger: str
    theta: float
    minimum: float
    maximum: float
    found: RecordExplanation | None = None
    problem: str = ""


async def judge_again(records: Records, record: AnswerRecord, form: Mapping[str, str]) -> WhatIf:
    """Return the outcome of the form for a record.

    Raises:
        ScaarError: the records cannot be read.
    """
    started = next((each for each in record.events if isinstance(each, AnswerStarted)), None)
    if started is None:
        return _without("The answer failed before it started.")
    policy = started.provenance.policy
    name = form.get("policy", "")
    if name and name not in _POLICIES:
        return _without(f"There is no published policy {name} that judges drafts.")
    own = (PRESETS[name].trigger if name else policy.trigger) or ""
    if not own:
        return _without(f"The policy {policy.name} has no trigger: it judges no drafts.")
    trigger = form.get("trigger") or own
    if trigger not in TRIGGERS:
        return _without(f"There is no trigger {trigger}.")
    given = form.get("theta", "")
    default = policy.theta if trigger == own and not name else TRIGGERS[trigger].theta.default
    try:
        theta = float(given) if given else default
    except ValueError:
        return _without(f"The threshold must be a number, not {given[:40]}.")
    minimum, maximum = _range(trigger, default, record)
    if (given and form.get("was", trigger) != trigger) or not math.isfinite(theta):
        theta = default
    # The slider keeps its place when the trigger changes, which can be outside the new range.
    theta = min(maximum, max(minimum, theta))
    blank = WhatIf(
        *(_POLICIES, name, tuple(TRIGGERS), own, "" if trigger == own else trigger),
        *(theta, minimum, maximum),
    )
    overrides = PolicyOverrides(theta=theta, trigger=None if trigger == own else trigger)
    try:
        found = await records.explain_record(
            ExplainRecordRequest(record.summary.id, name, overrides)
        )
    except (InvalidRequest, WrongState, NotFound, DataCorrupt) as error:
        return replace(blank, problem=_text_of(error))
    return replace(blank, found=found)


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
