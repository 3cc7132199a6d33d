"""The loop with a gate: a common question is the model's alone, another the policy's."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

import pytest

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.loop import AdaptiveLoop, Ports
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import without_idle
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    Gate,
    GateJudged,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    SettingSource,
    TokenDrafted,
)

from .scripted import UNSURE_OF_PARIS, Parts, Untouchable, answer_in, asking, kinds, only, parts

PROXY = GateProxy(
    "lm", "c0ffee", WordStatistics("a list", {"was": 0.1}, 0.01), 0.0, (0.0, 0.0, 0.0), 0.5
)
"""Of which every question is long-tail with the probability 0.5."""
JUDGING = ("flare", "scaar")
FIRST_LOOKING_UP = ("single_round", "fixed_sentence", "ircot")
COMMON, LONG_TAIL = 0.6, 0.5


async def events_of(made: Parts, request: AnswerRequest) -> list[AnswerEvent]:
    ports = Ports(made.generator, made.scorer, made.query_builder, made.retriever)
    loop = AdaptiveLoop(
        ports,
        draft_ahead=made.draft_ahead,
        gate=PROXY,
        clock=made.clock,
        new_request_id=lambda: "made",
    )
    async with aclosing(loop.stream_answer(request)) as events:
        return [event async for event in events]


def gated(policy: str, threshold: float | None = None) -> AnswerRequest:
    return asking(policy, gate=Gate.GECE_PROXY, gate_threshold=threshold)


def told(events: Sequence[AnswerEvent]) -> list[AnswerEvent]:
    """The events without the gate's own and those that name the policy."""
    apart = AnswerStarted, GateJudged, AnswerFinished
    return [event for event in events if not isinstance(event, apart)]


def without_ids(events: Sequence[AnswerEvent]) -> list[AnswerEvent]:
    """The events, without the ids that a script gives its tokens as it meets them."""
    return [
        replace(event, token=replace(event.token, id=0))
        if isinstance(event, TokenDrafted)
        else event
        for event in events
    ]


@pytest.mark.parametrize("draft_ahead", [True, False])
@pytest.mark.parametrize("policy", [*JUDGING, *FIRST_LOOKING_UP, "fixed_length"])
async def test_a_common_question_is_answered_and_billed_as_by_the_model_alone(
    policy: str, draft_ahead: bool
) -> None:
    made, alone = (parts(UNSURE_OF_PARIS, draft_ahead=draft_ahead) for _ in range(2))
    events = await events_of(made, gated(policy, COMMON))
    plain = await events_of(alone, asking("no_retrieval"))
    assert told(events) == told(plain)
    assert answer_in(events).usage == answer_in(plain).usage
    (judged,) = only(GateJudged, events)
    assert not judged.long_tail
    assert (judged.probability, judged.threshold) == (0.5, COMMON)


@pytest.mark.parametrize("draft_ahead", [True, False])
@pytest.mark.parametrize("policy", JUDGING)
async def test_under_a_policy_that_judges_a_long_tail_question_costs_no_draft_more(
    policy: str, draft_ahead: bool
) -> None:
    made, ungated = (parts(UNSURE_OF_PARIS, draft_ahead=draft_ahead) for _ in range(2))
    events = await events_of(made, gated(policy, LONG_TAIL))
    plain = await events_of(ungated, asking(policy))
    assert told(events) == told(plain)
    assert answer_in(events).usage == answer_in(plain).usage
    assert kinds(events)[:4] == ["AnswerStarted", "TokenDrafted", "GateJudged", "SentenceJudged"]


@pytest.mark.parametrize("policy", FIRST_LOOKING_UP)
async def test_a_policy_that_looks_up_first_drops_the_draft_that_its_gate_judged_by(
    policy: str,
) -> None:
    made, ungated = parts(UNSURE_OF_PARIS), parts(UNSURE_OF_PARIS)
    events = await events_of(made, gated(policy, LONG_TAIL))
    plain = await events_of(ungated, asking(policy))
    assert without_ids(told(events)) == without_ids(told(plain))
    assert kinds(events)[:4] == ["AnswerStarted", "GateJudged", "QueryBuilt", "PassagesRetrieved"]
    with_gate, without = answer_in(events).usage, answer_in(plain).usage
    assert with_gate.retrievals == without.retrievals
    assert with_gate.generated_tokens > without.generated_tokens


async def test_the_gate_tells_what_it_judged_by_before_anything_is_looked_up() -> None:
    events = await events_of(parts(UNSURE_OF_PARIS), gated("flare"))
    (judged,) = only(GateJudged, events)
    # "Where was Ada born?": one word of four is known.
    assert judged.average_frequency == pytest.approx(0.13 / 4)
    assert judged.rarest_frequency == 0.01
    assert judged.gate is Gate.GECE_PROXY
    assert 0 < judged.confidence < 1
    at = events.index(judged)
    assert all(isinstance(event, AnswerStarted | TokenDrafted) for event in events[:at])
    assert only(PassagesRetrieved, events[at:])


@pytest.mark.parametrize(
    ("threshold", "source"), [(None, SettingSource.GATE), (0.3, SettingSource.REQUEST)]
)
async def test_the_provenance_names_the_gate_its_threshold_and_its_file(
    threshold: float | None, source: SettingSource
) -> None:
    made = answer_in(await events_of(parts(UNSURE_OF_PARIS), gated("flare", threshold))).provenance
    assert (made.policy.gate, made.gate_revision) == (Gate.GECE_PROXY, "c0ffee")
    assert made.policy.gate_threshold == (PROXY.threshold if threshold is None else threshold)
    sources = dict(made.policy.sources)
    assert (sources["gate"], sources["gate_threshold"]) == (SettingSource.REQUEST, source)
    plain = answer_in(await events_of(parts(UNSURE_OF_PARIS), asking("flare"))).provenance
    assert (plain.policy.gate, plain.gate_revision) == (None, "")
    assert "gate" not in dict(plain.policy.sources)


async def test_a_gate_without_its_file_is_refused_before_any_work() -> None:
    nothing = Untouchable()
    loop = AdaptiveLoop(Ports(nothing, nothing, nothing, nothing))  # type: ignore[arg-type]
    with pytest.raises(CapabilityMissing, match="SCAAR_ORCHESTRATOR_GATE_FILE") as caught:
        async with aclosing(loop.stream_answer(gated("flare"))) as events:
            await anext(events)
    assert caught.value.metadata == {"policy": "flare", "missing": "gate_file"}


@pytest.mark.parametrize(
    ("request_", "told_"),
    [
        (gated("no_retrieval"), "policy.gate: policy no_retrieval has no such setting"),
        (gated("flare", 0.0), r"policy.gate_threshold: must be in \(0, 1\]"),
        (gated("ircot", 1.1), r"policy.gate_threshold: must be in \(0, 1\]"),
        (asking("flare", gate_threshold=0.5), "policy.gate_threshold: has no effect with no gate"),
    ],
)
async def test_a_gate_that_cannot_be_is_refused_by_name(
    request_: AnswerRequest, told_: str
) -> None:
    with pytest.raises(InvalidRequest, match=told_):
        await events_of(parts(UNSURE_OF_PARIS), request_)


def test_every_policy_that_retrieves_takes_a_gate_and_a_threshold_alone_is_idle() -> None:
    for name, preset in PRESETS.items():
        assert ("gate" in preset.adjustable) is (name != "no_retrieval")
    asked = PolicyRequest("flare", PolicyOverrides(gate_threshold=0.5))
    assert without_idle(asked) == PolicyRequest("flare")
    both = replace(asked, overrides=PolicyOverrides(gate=Gate.GECE_PROXY, gate_threshold=0.5))
    assert without_idle(both) == both
