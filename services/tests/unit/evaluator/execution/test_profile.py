"""The prompt profile of evaluations."""

from dataclasses import replace

import pytest

from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import AnswerRequest, PolicyRequest
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.execution.provenance import with_profile
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import SCRIPTED_MODEL, InMemoryRetriever, ScriptedGenerator, ScriptedScorer

TEMPLATE = AnswerRequest("Who?", PolicyRequest("dragin"))
"""A policy that the model cannot serve, which an evaluation may leave out."""


def loop_of(profile: str) -> AdaptiveLoop:
    model = replace(SCRIPTED_MODEL, prompt_profile=profile)
    generator = ScriptedGenerator({}, model=model)
    retriever = InMemoryRetriever({"lab": ()})
    return AdaptiveLoop(
        Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), retriever), default_index="lab"
    )


@pytest.mark.parametrize(
    ("profile", "dataset", "expected"),
    [
        ("lab", "lab", ""),
        ("scaar", "lab", ""),
        ("instruct", "lab", "scaar@2"),
        ("scaar", "hotpotqa", "scaar@2:hotpotqa"),
        ("instruct", "hotpotqa", "scaar@2:hotpotqa"),
        ("dragin", "hotpotqa", "dragin@1:hotpotqa"),
    ],
)
async def test_an_instruct_model_is_evaluated_with_examples(
    profile: str, dataset: str, expected: str
) -> None:
    found = await with_profile(loop_of(profile), TEMPLATE, KINDS[dataset])
    assert (found.prompt_profile, found.policy) == (expected, TEMPLATE.policy)


async def test_a_profile_of_the_request_is_kept() -> None:
    template = replace(TEMPLATE, prompt_profile="instruct@1")
    found = await with_profile(loop_of("instruct"), template, KINDS["hotpotqa"])
    assert found.prompt_profile == "instruct@1"
