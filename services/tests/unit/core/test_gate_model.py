"""The model of an answer as its gate uses it: usage, deadline, cancellation, refusals."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

import pytest

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    StreamIncomplete,
)
from scaar.core.gates import GATES, GateJudgement, GateModel, gate_without_file
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import (
    AnswerEnd,
    AnswerEvent,
    AnswerRequest,
    BudgetLimits,
    Capability,
    GateJudged,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    SettingSource,
)
from scaar.testing.fakes import SAMPLED_MODEL, Piece, ScriptedGenerator

from .scripted import DRAFTS, Parts, Untouchable, answer_in, asking, kinds, model, only

EVERYTHING = replace(SAMPLED_MODEL, capabilities=frozenset(Capability))
WITHOUT_FILE = [name for name in GATES.built_in if gate_without_file(name)]
CALLS = {
    "targ": 1,
    "targ_entropy": 1,
    "targ_variance": 1,
    "lexsim": 1,
    "p_true": 3,
    "verbalised": 2,
    "seakr": 1,
}
"""Model calls of each gate."""
FIRST = model()


def script(request: GenerateRequest) -> list[Piece]:
    if "Proposed answer" in request.prompt:
        return [(" 0.9", -0.1)]
    return FIRST(request)


def parts(**changed: object) -> Parts:
    return Parts(ScriptedGenerator(script, model=EVERYTHING, **changed))  # type: ignore[arg-type]


async def all_events(made: Parts, request: AnswerRequest) -> list[AnswerEvent]:
    async with aclosing(made.loop().stream_answer(request)) as events:
        return [event async for event in events]


async def events_of(
    made: Parts, gate: str, *, budget: BudgetLimits | None = None, **overrides: object
) -> list[AnswerEvent]:
    return await all_events(made, asking("single_round", budget=budget, gate=gate, **overrides))


def test_every_gate_without_a_file_is_tested_here() -> None:
    assert [*CALLS, "quco"] == WITHOUT_FILE, "quco does not ask the model"


@pytest.mark.parametrize("gate", CALLS)
async def test_what_a_gate_writes_and_reads_counts_as_usage_but_not_against_the_limit(
    gate: str,
) -> None:
    # The answer itself has ten tokens.
    limits, made, ungated = BudgetLimits(max_tokens=12), parts(), parts()
    events = await events_of(made, gate, budget=limits)
    (judged,) = only(GateJudged, events)
    assert judged.features
    plain = await all_events(ungated, asking(judged.policy, budget=limits))
    assert answer_in(events).sentences == answer_in(plain).sentences
    assert answer_in(events).end is answer_in(plain).end is AnswerEnd.ANSWER_PHRASE
    usage, alone = answer_in(events).usage, answer_in(plain).usage
    assert usage.llm_calls - alone.llm_calls == CALLS[gate]
    assert usage.prompt_tokens > alone.prompt_tokens
    assert usage.generated_tokens > alone.generated_tokens
    assert made.generator.opened == made.generator.closed
    assert kinds(events)[:2] == ["AnswerStarted", "GateJudged"]


async def test_samples_are_one_call_with_the_tokens_of_all() -> None:
    made, ungated = parts(), parts()
    events = await events_of(made, "targ_variance", gate_threshold=1.0)
    plain = await all_events(ungated, asking("no_retrieval"))
    usage, alone = answer_in(events).usage, answer_in(plain).usage
    sampled = made.generator.requests[:3]
    assert [each.seed for each in sampled] == [0, 1, 2]
    assert usage.generated_tokens - alone.generated_tokens == 3 * len(DRAFTS[""].split())
    assert usage.prompt_tokens - alone.prompt_tokens == len(sampled[0].prompt.split())


async def test_a_model_without_seeds_samples_without_one() -> None:
    unseeded = replace(EVERYTHING, capabilities=EVERYTHING.capabilities - {Capability.SEED})
    made = Parts(ScriptedGenerator(script, model=unseeded))
    await events_of(made, "targ_variance")
    assert made.generator.requests[0].seed is None


@pytest.mark.parametrize(
    ("gate", "missing"),
    [
        ("targ", Capability.LOGPROBS),
        ("targ_entropy", Capability.ENTROPY),
        ("targ_variance", Capability.SAMPLING),
        ("lexsim", Capability.SAMPLING),
        ("p_true", Capability.TEXT_LOGPROBS),
        ("seakr", Capability.SAMPLING),
        ("seakr", Capability.HIDDEN_STATES),
    ],
)
async def test_a_gate_that_the_model_cannot_serve_is_refused_before_any_work(
    gate: str, missing: Capability
) -> None:
    lacking = replace(EVERYTHING, capabilities=EVERYTHING.capabilities - {missing})
    made = Parts(ScriptedGenerator(script, model=lacking))
    with pytest.raises(CapabilityMissing, match=f"gate {gate} needs {missing}, which") as caught:
        await events_of(made, gate)
    assert caught.value.metadata == {"policy": "single_round", "missing": missing}
    assert made.generator.requests == []


@pytest.mark.parametrize("gate", CALLS)
async def test_a_model_with_just_the_capabilities_of_a_gate_serves_it(gate: str) -> None:
    found = gate_without_file(gate)
    assert found is not None
    bare = replace(EVERYTHING, capabilities=found.needs)
    made = Parts(ScriptedGenerator(script, model=bare))
    (judged,) = only(GateJudged, await events_of(made, gate))
    assert judged.gate == gate
    if gate == "verbalised":
        assert judged.features == {"stated": 1.0, "confidence": 0.9}


@dataclass(frozen=True)
class DraftAndSample:
    """A gate that writes besides the draft of the first sentence."""

    name: str = "skr"
    revision: str = "drafting"
    threshold: float = 0.5
    policies: tuple[str, ...] = ()
    needs: frozenset[Capability] = frozenset()
    needs_draft: bool = True

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        (sample,) = await model.write(GenerateRequest(model.prompt, max_tokens=1))
        assert sample.text == model.draft[0].text
        return GateJudgement(0.9, {})


@pytest.mark.parametrize("policy", ["flare", "single_round"])
async def test_a_gate_that_writes_leaves_the_draft_of_the_answer_as_it_is(policy: str) -> None:
    made, ungated = parts(), parts()
    ports = Ports(made.generator, made.scorer, made.query_builder, made.retriever)
    loop = AdaptiveLoop(ports, gate=DraftAndSample(), clock=made.clock, default_index="lab")
    async with aclosing(loop.stream_answer(asking(policy, gate="skr"))) as stream:
        events = [event async for event in stream]
    plain = await all_events(ungated, asking(policy))
    assert answer_in(events).sentences == answer_in(plain).sentences
    assert made.generator.opened == made.generator.closed


async def test_the_default_threshold_is_that_of_the_gate_and_there_is_no_revision() -> None:
    provenance = answer_in(await events_of(parts(), "lexsim")).provenance
    assert (provenance.policy.gate_threshold, provenance.gate_revision) == (0.5, "")
    assert dict(provenance.policy.sources)["gate_threshold"] is SettingSource.GATE


@pytest.mark.parametrize("gate", CALLS)
async def test_a_gate_ends_with_the_deadline_of_the_answer(gate: str) -> None:
    made = parts(delay_s=0.2)
    made.clock = asyncio.get_running_loop().time
    with pytest.raises(DeadlineExceeded, match="while judging the question"):
        await events_of(made, gate, budget=BudgetLimits(timeout_s=0.1))
    assert made.generator.opened == made.generator.closed == 1


async def test_a_cancelled_answer_ends_the_generation_of_its_gate() -> None:
    started = asyncio.Event()

    def starting(request: GenerateRequest) -> list[Piece]:
        started.set()
        return FIRST(request)

    made = Parts(ScriptedGenerator(starting, model=EVERYTHING, delay_s=60.0))
    answering = asyncio.create_task(events_of(made, "lexsim"))
    await started.wait()
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    assert made.generator.closed == 1


async def test_a_failure_of_the_model_fails_the_answer() -> None:
    broken = Parts(
        ScriptedGenerator(lambda request: [BackendUnavailable("gone")], model=EVERYTHING)
    )
    with pytest.raises(BackendUnavailable, match="gone"):
        await events_of(broken, "targ")


class EndsEarly(ScriptedGenerator):
    """A generator whose stream ends after its first sample."""

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                yield event
                if isinstance(event, GenerationEnd):
                    return


async def test_a_stream_without_its_last_sample_fails_the_answer() -> None:
    broken = Parts(EndsEarly(script, model=EVERYTHING))
    with pytest.raises(StreamIncomplete, match="ended before its last end"):
        await events_of(broken, "targ_variance")


async def test_a_gate_that_needs_its_file_is_still_refused_without_it() -> None:
    nothing = Untouchable()
    made = Parts(nothing)  # type: ignore[arg-type]
    with pytest.raises(CapabilityMissing, match="policy.gate skr needs its file"):
        await events_of(made, "skr")
