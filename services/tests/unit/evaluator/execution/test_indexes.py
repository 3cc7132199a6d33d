from collections.abc import Mapping
from dataclasses import replace

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import AnswerRequest, Passage, Provenance
from scaar.evaluator.execution.items import QuestionLimiter
from scaar.evaluator.execution.provenance import check_indexes, provenances
from scaar.evaluator.execution.shard import run_shard
from scaar.evaluator.planning.ablations import plan_ablation
from scaar.evaluator.planning.work import plan_work
from scaar.evaluator.records import Question
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer

from .test_shard import MemoryStore

SETTINGS = plan_ablation("retriever", {}, ("a", "b"))
TEMPLATE = AnswerRequest("Who?", index="a")


def loop(retriever: InMemoryRetriever) -> AdaptiveLoop:
    pieces = [(" The", -0.1), (" film.", -0.1), (" So the answer is Ada.", -0.1)]
    generator = ScriptedGenerator(lambda request: pieces)
    return AdaptiveLoop(
        Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), retriever), default_index="lab"
    )


def retriever() -> InMemoryRetriever:
    passages = (Passage("p1", "", "Who made the film"),)
    return InMemoryRetriever({"a": passages, "b": passages})


async def test_each_setting_retrieves_from_its_own_index() -> None:
    store, requested = MemoryStore(), retriever()
    expected = await provenances(loop(requested), SETTINGS, TEMPLATE)
    assert expected["single_round:index=b"].index == "b"
    check_indexes(SETTINGS, expected)
    plan = plan_work(SETTINGS, [Question("q", "Who?", ("Ada",), "Ada")])
    await run_shard(
        loop(requested),
        plan,
        store,
        template=TEMPLATE,
        expected=expected,
        limiter=QuestionLimiter(1),
    )
    assert [each.failure for each in store.kept] == [None] * len(SETTINGS)
    assert {each.index for each in requested.requests} == {"a", "b"}


async def made() -> Mapping[str, Provenance]:
    return await provenances(loop(retriever()), SETTINGS, TEMPLATE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("9" * 64, r"must contain the same passages: a \(passages .*, b \(passages 999999999999\)"),
        ("", "b was built by a version that stores no digest"),
    ],
)
async def test_indexes_of_other_passages_are_refused(content: str, message: str) -> None:
    found = {
        label: replace(each, index_content=content) if each.index == "b" else each
        for label, each in (await made()).items()
    }
    with pytest.raises(InvalidRequest, match=message):
        check_indexes(SETTINGS, found)
