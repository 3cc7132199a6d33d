import pytest

from scaar.core.errors import CapabilityMissing, NotFound
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import AnswerRequest
from scaar.evaluator.execution.provenance import select_servable
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.results import describe_left_out
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    WHITE_BOX_MODEL,
    InMemoryRetriever,
    ScriptedGenerator,
    ScriptedScorer,
)

TEMPLATE = AnswerRequest("Who?")
SETTINGS = plan_settings(
    ("no_retrieval", "dragin", "flare", "etc", "mean_entropy"), {"theta": (0.3, 0.8)}
)


def _loop(generator: ScriptedGenerator) -> AdaptiveLoop:
    retriever = InMemoryRetriever({"lab": ()})
    return AdaptiveLoop(
        Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), retriever), default_index="lab"
    )


BLACK_BOX = ScriptedGenerator(lambda request: [(" It.", -0.1)])
WHITE_BOX = ScriptedGenerator(lambda request: [(" It.", -0.1)], model=WHITE_BOX_MODEL)


async def test_settings_that_a_model_cannot_serve_are_listed_with_what_it_lacks() -> None:
    served, left_out = await select_servable(_loop(BLACK_BOX), SETTINGS, TEMPLATE)
    assert [each.label for each in served] == [
        "no_retrieval",
        "flare:theta=0.3",
        "flare:theta=0.8",
    ]
    assert (*served, *(each.setting for each in left_out)) == (
        *(each for each in SETTINGS if each.policy.name in ("no_retrieval", "flare")),
        *(each for each in SETTINGS if each.policy.name not in ("no_retrieval", "flare")),
    )
    assert describe_left_out(left_out) == [
        "dragin:theta=0.3, dragin:theta=0.8, etc:theta=0.3, etc:theta=0.8 "
        "(lacking: attention, entropy)",
        "mean_entropy:theta=0.3, mean_entropy:theta=0.8 (lacking: entropy)",
    ]


async def test_nothing_is_left_out_if_all_settings_can_be_served() -> None:
    assert await select_servable(_loop(WHITE_BOX), SETTINGS, TEMPLATE) == (SETTINGS, ())


async def test_a_model_that_can_serve_no_setting_is_refused() -> None:
    with pytest.raises(CapabilityMissing, match="policy dragin needs attention, entropy"):
        await select_servable(_loop(BLACK_BOX), SETTINGS[1:3], TEMPLATE)


async def test_a_failure_for_another_reason_is_not_a_missing_capability() -> None:
    elsewhere = AnswerRequest("Who?", index="nowhere")
    with pytest.raises(NotFound):
        await select_servable(_loop(BLACK_BOX), SETTINGS, elsewhere)
