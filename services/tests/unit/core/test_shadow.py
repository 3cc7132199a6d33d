"""Shadow policies: the trigger of a second policy on the drafts of an answer."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.loop.shadow import ShadowSampling
from scaar.core.observers import PolicyObserver, ShadowOutcome
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    PolicyOverrides,
    ScoreRequest,
    TuningConditions,
)
from scaar.testing.artefacts import artefact_of
from scaar.testing.fakes import ScriptedScorer

from .scripted import UNSURE_OF_PARIS, Parts, answer_in, asking, parts

TUNED = artefact_of(
    "careful", settings=PolicyOverrides(theta=0.05), tuned_on=TuningConditions("scripted")
)
"""Finds no draft uncertain: the probability of the uncertain word is 0.14."""
ELSEWHERE = artefact_of("elsewhere", tuned_on=TuningConditions("other-lm"))
ANOTHER_PROMPT = artefact_of(
    "another_prompt", tuned_on=TuningConditions("scripted", prompt_profile="instruct@1")
)
POLICIES = TunedPolicies([TUNED, ELSEWHERE, ANOTHER_PROMPT])


class Recorded(PolicyObserver):
    def __init__(self) -> None:
        self.judged: list[tuple[str, str, ShadowOutcome]] = []

    def on_shadow_judged(self, policy: str, shadow: str, outcome: ShadowOutcome) -> None:
        self.judged.append((policy, shadow, outcome))


async def events_of(
    made: Parts, request: AnswerRequest, shadow: str, *, share: float = 1.0, draw: float = 0.0
) -> tuple[list[AnswerEvent], list[tuple[str, str, ShadowOutcome]]]:
    observer = Recorded()
    sampling = ShadowSampling(POLICIES, shadow, share, observer=observer, draw=lambda: draw)
    ports = Ports(made.generator, made.scorer, made.query_builder, made.retriever)
    loop = AdaptiveLoop(
        ports, policies=POLICIES, shadow=sampling, clock=made.clock, default_index="lab"
    )
    request = replace(request, request_id="made")
    async with aclosing(loop.stream_answer(request)) as events:
        return [event async for event in events], observer.judged


@pytest.mark.parametrize(
    ("policy", "theta", "shadow", "outcome"),
    [
        ("flare", 0.5, "scaar", ShadowOutcome.BOTH),
        ("flare", 0.5, "careful", ShadowOutcome.POLICY_ONLY),
        ("flare", 0.01, "scaar", ShadowOutcome.SHADOW_ONLY),
        ("flare", 0.01, "careful", ShadowOutcome.NEITHER),
    ],
)
async def test_the_decisions_of_both_policies_are_compared(
    policy: str, theta: float, shadow: str, outcome: ShadowOutcome
) -> None:
    made, alone = parts(UNSURE_OF_PARIS), parts(UNSURE_OF_PARIS)
    request = asking(policy, theta=theta)
    events, judged = await events_of(made, request, shadow)
    assert judged == [("flare", shadow, outcome)]
    plain = await alone.events(replace(request, request_id="made"))
    assert answer_in(events) == answer_in(plain)
    assert made.generator.requests == alone.generator.requests
    assert made.retriever.requests == alone.retriever.requests
    # The contributions are for the shadow alone.
    assert len(made.scorer.requests) == (shadow == "scaar")


async def test_a_share_of_the_answers_has_a_shadow() -> None:
    for draw, compared in ((0.19, 1), (0.2, 0), (0.9, 0)):
        request = asking("flare")
        _, judged = await events_of(
            parts(UNSURE_OF_PARIS), request, "careful", share=0.2, draw=draw
        )
        assert len(judged) == compared


async def test_the_policy_itself_and_one_that_judges_nothing_have_no_shadow() -> None:
    for request, shadow in (
        (asking("careful"), "careful"),
        (asking("flare"), "flare"),
        (asking("single_round"), "careful"),
    ):
        _, judged = await events_of(parts(UNSURE_OF_PARIS), request, shadow)
        assert judged == []


async def test_a_shadow_that_fails_does_not_change_the_answer() -> None:
    def failing(request: ScoreRequest) -> list[float]:
        raise BackendUnavailable("the scorer does not respond")

    made = parts(UNSURE_OF_PARIS, scorer=ScriptedScorer(failing))
    events, judged = await events_of(made, asking("flare"), "scaar")
    assert judged == [("flare", "scaar", ShadowOutcome.FAILED)]
    assert answer_in(events).usage.retrievals == 1
    assert not answer_in(events).degraded


@pytest.mark.parametrize("shadow", ["elsewhere", "another_prompt", "mean_entropy"])
async def test_a_shadow_that_the_model_cannot_serve_is_counted_once(shadow: str) -> None:
    _, judged = await events_of(parts(UNSURE_OF_PARIS), asking("flare"), shadow)
    assert judged == [("flare", shadow, ShadowOutcome.UNAVAILABLE)]


@pytest.mark.parametrize(
    ("shadow", "problem"),
    [
        ("guess", "there is no policy 'guess'; known: .*careful, elsewhere"),
        ("single_round", "single_round judges no drafts"),
        ("dragin", "the trigger rind needs attention, which costs calls of the model"),
    ],
)
def test_a_policy_that_cannot_be_a_shadow_is_refused(shadow: str, problem: str) -> None:
    with pytest.raises(InvalidRequest, match=f"^shadow_policy: {problem}"):
        ShadowSampling(POLICIES, shadow, 0.5)
