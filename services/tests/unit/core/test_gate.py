"""The loop with a gate, and with a router: which policy answers a question."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields, replace

import pytest

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.gates import GateJudgement, GateModel, QuestionGate
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import without_idle
from scaar.core.policies.settings import adjustable
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    Capability,
    GateJudged,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    SettingSource,
    TokenDrafted,
)
from scaar.testing.fakes import SCRIPTED_MODEL, ScriptedGenerator

from .scripted import UNSURE_OF_PARIS, Parts, Untouchable, answer_in, asking, kinds, only, parts

PROXY = GateProxy(
    "lm", "c0ffee", WordStatistics("a list", {"was": 0.1}, 0.01), 0.0, (0.0, 0.0, 0.0), 0.5
)
"""Of which every question is long-tail with the probability 0.5."""
JUDGING = ("flare", "scaar")
FIRST_LOOKING_UP = ("single_round", "fixed_sentence", "ircot", "iter_retgen")
COMMON, LONG_TAIL = 0.6, 0.5


@dataclass(frozen=True)
class Router:
    """A router that always makes the same choice."""

    choice: str
    needs_draft: bool = False
    name: str = "gece_proxy"
    revision: str = "router"
    threshold: None = None
    policies: tuple[str, ...] = ("no_retrieval", "single_round", "flare")
    needs: frozenset[Capability] = frozenset()

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        assert bool(model.draft) is self.needs_draft
        return GateJudgement(0.9, {"words": len(question.split())}, self.choice)


async def events_of(
    made: Parts, request: AnswerRequest, gate: QuestionGate = PROXY
) -> list[AnswerEvent]:
    ports = Ports(made.generator, made.scorer, made.query_builder, made.retriever)
    loop = AdaptiveLoop(
        ports,
        draft_ahead=made.draft_ahead,
        gate=gate,
        clock=made.clock,
        new_request_id=lambda: "made",
        default_index="lab",
    )
    async with aclosing(loop.stream_answer(request)) as events:
        return [event async for event in events]


def gated(policy: str, threshold: float | None = None) -> AnswerRequest:
    return asking(policy, gate="gece_proxy", gate_threshold=threshold)


def reported(events: Sequence[AnswerEvent]) -> list[AnswerEvent]:
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


class Sparing(GateProxy):
    """A gate that lets retrievals have one passage."""

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        return GateJudgement(0.5, {}, top_k=1)


@pytest.mark.parametrize("policy", [*JUDGING, *FIRST_LOOKING_UP])
@pytest.mark.parametrize(("threshold", "top_k"), [(COMMON, None), (LONG_TAIL, 1)])
async def test_a_gate_can_limit_the_passages_of_a_retrieval(
    policy: str, threshold: float, top_k: int | None
) -> None:
    sparing = Sparing(*(getattr(PROXY, each.name) for each in fields(PROXY)))
    events = await events_of(parts(UNSURE_OF_PARIS), gated(policy, threshold), sparing)
    assert [event.top_k for event in only(GateJudged, events)] == [top_k]
    found = [len(event.passages) for event in only(PassagesRetrieved, events)]
    assert set(found) == ({1} if top_k else set())


@pytest.mark.parametrize("draft_ahead", [True, False])
@pytest.mark.parametrize("policy", [*JUDGING, *FIRST_LOOKING_UP, "fixed_length", "model_asks"])
async def test_a_common_question_has_the_answer_and_usage_of_the_model_alone(
    policy: str, draft_ahead: bool
) -> None:
    made, alone = (parts(UNSURE_OF_PARIS, draft_ahead=draft_ahead) for _ in range(2))
    events = await events_of(made, gated(policy, COMMON))
    plain = await events_of(alone, asking("no_retrieval"))
    assert reported(events) == reported(plain)
    assert answer_in(events).usage == answer_in(plain).usage
    (judged,) = only(GateJudged, events)
    assert (judged.policy, judged.passed) == ("no_retrieval", False)
    assert (judged.probability, judged.threshold) == (0.5, COMMON)


@pytest.mark.parametrize("draft_ahead", [True, False])
@pytest.mark.parametrize("policy", JUDGING)
async def test_under_a_policy_that_judges_a_long_tail_question_costs_no_draft_more(
    policy: str, draft_ahead: bool
) -> None:
    made, ungated = (parts(UNSURE_OF_PARIS, draft_ahead=draft_ahead) for _ in range(2))
    events = await events_of(made, gated(policy, LONG_TAIL))
    plain = await events_of(ungated, asking(policy))
    assert reported(events) == reported(plain)
    assert answer_in(events).usage == answer_in(plain).usage
    assert kinds(events)[:4] == ["AnswerStarted", "TokenDrafted", "GateJudged", "SentenceJudged"]


@pytest.mark.parametrize("policy", FIRST_LOOKING_UP)
async def test_a_policy_that_looks_up_first_drops_the_draft_that_its_gate_judged_by(
    policy: str,
) -> None:
    made, ungated = parts(UNSURE_OF_PARIS), parts(UNSURE_OF_PARIS)
    events = await events_of(made, gated(policy, LONG_TAIL))
    plain = await events_of(ungated, asking(policy))
    assert without_ids(reported(events)) == without_ids(reported(plain))
    assert kinds(events)[:4] == ["AnswerStarted", "GateJudged", "QueryBuilt", "PassagesRetrieved"]
    with_gate, without = answer_in(events).usage, answer_in(plain).usage
    assert with_gate.retrievals == without.retrievals
    assert with_gate.generated_tokens > without.generated_tokens


async def test_the_gate_reports_its_features_before_any_retrieval() -> None:
    events = await events_of(parts(UNSURE_OF_PARIS), gated("flare"))
    (judged,) = only(GateJudged, events)
    # "Where was Ada born?": one word of four is known.
    assert judged.features["average_frequency"] == pytest.approx(0.13 / 4)
    assert judged.features["rarest_frequency"] == 0.01
    assert 0 < judged.features["confidence"] < 1
    assert (judged.gate, judged.policy, judged.passed) == ("gece_proxy", "flare", True)
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
    assert (made.policy.gate, made.gate_revision) == ("gece_proxy", "c0ffee")
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
    ("request_", "message_"),
    [
        (gated("no_retrieval"), "policy.gate: policy no_retrieval has no such setting"),
        (gated("flare", 0.0), r"policy.gate_threshold: must be in \(0, 1\]"),
        (gated("ircot", 1.1), r"policy.gate_threshold: must be in \(0, 1\]"),
        (asking("flare", gate_threshold=0.5), "policy.gate_threshold: has no effect with no gate"),
    ],
)
async def test_a_gate_that_cannot_be_is_refused_by_name(
    request_: AnswerRequest, message_: str
) -> None:
    with pytest.raises(InvalidRequest, match=message_):
        await events_of(parts(UNSURE_OF_PARIS), request_)


@pytest.mark.parametrize("needs_draft", [False, True])
@pytest.mark.parametrize("choice", Router.policies)
async def test_a_router_chooses_the_policy_that_answers(choice: str, needs_draft: bool) -> None:
    made, plainly = parts(UNSURE_OF_PARIS), parts(UNSURE_OF_PARIS)
    events = await events_of(made, gated("ircot"), Router(choice, needs_draft))
    plain = await events_of(plainly, asking(choice))
    assert without_ids(reported(events)) == without_ids(reported(plain))
    (judged,) = only(GateJudged, events)
    assert (judged.policy, judged.threshold, judged.features) == (choice, 0.0, {"words": 4})
    assert judged.passed
    provenance = answer_in(events).provenance
    assert (provenance.policy.name, provenance.policy.gate_threshold) == ("ircot", None)
    discards = needs_draft and choice == "single_round"
    tokens = [answer_in(each).usage.generated_tokens for each in (events, plain)]
    assert tokens[0] > tokens[1] if discards else tokens[0] == tokens[1]


async def test_a_router_is_refused_if_the_model_cannot_serve_one_of_its_policies() -> None:
    router = Router("dragin", policies=("no_retrieval", "dragin"))
    with pytest.raises(CapabilityMissing, match="policy dragin needs attention, entropy"):
        await events_of(parts(UNSURE_OF_PARIS), gated("ircot"), router)


async def test_only_a_gate_that_judges_a_draft_needs_log_probabilities() -> None:
    closed = replace(SCRIPTED_MODEL, capabilities=frozenset())
    router = Router("single_round", policies=("no_retrieval", "single_round"))
    made = Parts(ScriptedGenerator(UNSURE_OF_PARIS, model=closed))
    # The policy of the request, which this model could not serve, does not answer.
    (judged,) = only(GateJudged, await events_of(made, gated("dragin"), router))
    assert judged.policy == "single_round"
    with pytest.raises(CapabilityMissing, match="gate gece_proxy needs logprobs"):
        await events_of(made, gated("single_round"))


async def test_a_threshold_of_a_router_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="policy.gate_threshold: has no effect on gece_proxy"):
        await events_of(parts(UNSURE_OF_PARIS), gated("ircot", 0.5), Router("flare"))


def test_every_retrieving_policy_accepts_a_gate_and_a_threshold_alone_is_idle() -> None:
    for name, preset in PRESETS.items():
        assert ("gate" in adjustable(preset)) is (name != "no_retrieval")
    requested = PolicyRequest("flare", PolicyOverrides(gate_threshold=0.5))
    assert without_idle(requested) == PolicyRequest("flare")
    both = replace(requested, overrides=PolicyOverrides(gate="gece_proxy", gate_threshold=0.5))
    assert without_idle(both) == both
