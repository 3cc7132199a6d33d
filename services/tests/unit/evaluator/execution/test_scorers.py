from collections.abc import Mapping
from dataclasses import replace

import pytest

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import ContributionScorer
from scaar.core.types import AnswerRequest, Provenance
from scaar.evaluator.execution.items import QuestionLimiter
from scaar.evaluator.execution.provenance import provenances
from scaar.evaluator.execution.scorers import Controls, check_scorers
from scaar.evaluator.execution.shard import run_shard
from scaar.evaluator.planning.axes import with_scorers
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.planning.work import plan_work
from scaar.evaluator.records import Question
from scaar.query_builder.local import LocalQueryBuilder
from scaar.scorer.controls.factory import open_control
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer

from .test_shard import MemoryStore

SETTINGS = with_scorers(plan_settings(("flare", "scaar"), {}), (None, *Control))
TEMPLATE = AnswerRequest("Who?")
SCORER = ScriptedScorer({"film.": 0.5})


def loop(scorer: ContributionScorer = SCORER) -> AdaptiveLoop:
    """A loop whose drafts have two words of which neither is sure."""
    pieces = [(" The", -0.5), (" film.", -0.5), (" So the answer is Ada.", -0.1)]
    generator = ScriptedGenerator(lambda request: pieces)
    return AdaptiveLoop(
        Ports(generator, scorer, LocalQueryBuilder(), InMemoryRetriever({"lab": ()})),
        default_index="lab",
    )


async def control_loops() -> Controls:
    found = {}
    for control in Control:
        async with open_control(control, SCORER) as scorer:
            found[control] = loop(scorer)
    return found


async def made() -> Mapping[str, Provenance]:
    return await provenances(loop(), SETTINGS, TEMPLATE, controls=await control_loops())


async def test_each_setting_is_answered_with_its_own_scorer() -> None:
    controls, store = await control_loops(), MemoryStore()
    expected = await provenances(loop(), SETTINGS, TEMPLATE, controls=controls)
    assert {label: each.scorer for label, each in expected.items()} == {
        "flare": "",
        "scaar": "scripted",
        "scaar:scorer=permuted": "scripted+permuted",
        "scaar:scorer=constant": "scripted+constant",
        "scaar:scorer=idf": "wordfreq+idf",
    }
    check_scorers(SETTINGS, expected)
    plan = plan_work(SETTINGS, [Question("q", "Who?", ("Ada",), "Ada")])
    await run_shard(
        loop(),
        plan,
        store,
        template=TEMPLATE,
        expected=expected,
        limiter=QuestionLimiter(2),
        controls=controls,
    )
    weights = {
        each.setting: tuple(word.contribution for word in each.decisions[0].words)
        for each in store.kept
    }
    assert weights["scaar"] == (0.0, 0.5)
    assert weights["scaar:scorer=permuted"] == (0.5, 0.0)
    assert weights["scaar:scorer=constant"] == (0.25, 0.25)
    the, film = weights["scaar:scorer=idf"]
    assert the is not None
    assert film is not None
    assert the < film


@pytest.mark.parametrize(
    ("label", "other", "message"),
    [
        ("scaar", {"scorer": "lm+idf"}, "scaar needs the scorer itself, but is answered with lm"),
        (
            "scaar:scorer=idf",
            {"scorer": "scripted"},
            "scaar:scorer=idf needs the control idf, but is answered with scripted",
        ),
        (
            "scaar:scorer=permuted",
            {"scorer_revision": "2"},
            "has another scorer than the same",
        ),
        (
            "scaar:scorer=constant",
            {"scorer": "lm+constant"},
            "has another scorer than the same",
        ),
        (
            "scaar:scorer=idf",
            {"model_revision": "2"},
            "has another model than the same",
        ),
        (
            "scaar:scorer=idf",
            {"index_version": "2"},
            "has another index than the same",
        ),
    ],
)
async def test_what_is_answered_by_another_scorer_model_or_index_is_refused(
    label: str, other: dict[str, str], message: str
) -> None:
    found = dict(await made())
    found[label] = replace(found[label], **other)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest) as caught:
        check_scorers(SETTINGS, found)
    assert message in str(caught.value)


async def test_an_evaluation_without_controls_takes_whatever_scorer_there_is() -> None:
    settings = plan_settings(("scaar",), {})
    answerer = (await control_loops())[Control.PERMUTED]
    check_scorers(settings, await provenances(answerer, settings, TEMPLATE))
