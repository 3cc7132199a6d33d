"""The whole loop through the five services, on the servers of production."""

import pytest

from scaar.client import Answer, OnFailure, open_client
from scaar.compose import LAB_SEED, open_answerer
from scaar.core.types import AnswerFinished, AnswerRequest, PolicyOverrides, PolicyRequest
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world

from .conftest import Platform

WORLD = build_world(LAB_SEED)
QUESTIONS = [
    question.question
    for split in ("head", "tail")
    for question in draw_questions(WORLD, count=4, split=split)
]
SETTINGS = {"scaar": {"theta": 0.25, "alpha": 75.0}, "flare": {"theta": 0.35}}
"""What the lab's model recommends; a model on a server recommends nothing."""


async def embedded(policy: PolicyRequest) -> list[Answer]:
    """The answers of everything in this process: ONNX Runtime and bm25s."""
    answers = []
    async with open_answerer() as answerer:
        for question in QUESTIONS:
            async for event in answerer.stream_answer(AnswerRequest(question, policy)):
                if isinstance(event, AnswerFinished):
                    answers.append(event.answer)
    return answers


@pytest.mark.parametrize("policy", ["scaar", "flare", "ircot", "single_round", "fixed_length"])
async def test_the_servers_of_production_give_the_answers_of_the_embedded_engines(
    platform: Platform, policy: str
) -> None:
    settings = SETTINGS.get(policy, {})
    async with open_client(platform.target) as client:
        answers = [
            await client.answer(question, policy=policy, **settings) for question in QUESTIONS
        ]
        requested = answers[0].provenance
    for ours, theirs in zip(answers, await embedded(_request(policy, settings)), strict=True):
        assert ours.text == theirs.text
        assert [each.passage_ids for each in ours.sentences] == [
            each.passage_ids for each in theirs.sentences
        ]
        assert ours.usage.retrievals == theirs.usage.retrievals
        assert not ours.degraded
    assert (requested.engine, requested.index) == ("tgi", "lab")
    assert requested.scorer == ("lab-cross-encoder" if policy == "scaar" else "")


async def test_drafts_are_accepted_and_marked_while_the_scorer_is_down(platform: Platform) -> None:
    async with open_client(platform.target) as client:
        platform.services["scorer"].process.kill()
        answer = await client.answer(QUESTIONS[-1], on_failure=OnFailure.ACCEPT_DRAFT, theta=0.25)
        assert answer.degraded
        assert answer.answer
        assert not (await client.answer(QUESTIONS[-1], policy="flare", theta=0.35)).degraded


def _request(policy: str, settings: dict[str, float]) -> PolicyRequest:
    return PolicyRequest(policy, PolicyOverrides(**settings))  # type: ignore[arg-type]
