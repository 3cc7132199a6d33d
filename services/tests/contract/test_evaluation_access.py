"""The indexes that the evaluations of a tenant may read."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest, NotFound, WrongState
from scaar.core.evaluations import (
    EvaluationRequest,
    EvaluationState,
    ReportFormat,
    no_questions,
)
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import Evaluator
from scaar.core.types import (
    GenerateRequest,
    PassagesRetrieved,
    PolicyRequest,
)
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.runtime.channels import open_channel
from scaar.runtime.server import open_server
from scaar.testing.access import ABSENT, FORBIDDEN, RULES, build_indexes, write_identities
from scaar.testing.conformance.evaluator import QUESTIONS, ended, sent
from scaar.testing.fakes import Piece, ScriptedGenerator, ScriptedScorer
from scaar.wire.evaluator import EvaluatorServicer, RemoteEvaluator
from scaar.wire.status import status_of

REQUEST = EvaluationRequest(policies=(PolicyRequest("single_round"),), indexes=("shared",))
ASKED = replace(QUESTIONS[0], question="Is parental leave paid?")


def _script(request: GenerateRequest) -> list[Piece]:
    return [(" So the answer is yes.", -0.1)]


@pytest.fixture
def identities(tmp_path: Path) -> Path:
    return write_identities(tmp_path / "identities.yaml")


@pytest.fixture
async def target(identities: Path, tmp_path: Path) -> AsyncIterator[str]:
    """An evaluator over an orchestrator on which it may read every index."""
    settings = EvaluatorSettings(
        identities_file=identities, operator_tenants=("operations",), stop_grace_s=0.0
    )
    async with open_retriever(RetrieverSettings(indexes=tmp_path / "indexes")) as engine:
        await build_indexes(engine)
        loop = AdaptiveLoop(
            Ports(ScriptedGenerator(_script), ScriptedScorer({}), LocalQueryBuilder(), engine),
            default_index="lab",
        )
        async with (
            open_evaluator(
                settings,
                loop,
                database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
                lab_index=lambda seed: FORBIDDEN,
            ) as evaluator,
            open_server(
                [EvaluatorServicer(evaluator)], "127.0.0.1:0", settings, status_of=status_of
            ) as server,
        ):
            yield server.target


@asynccontextmanager
async def calling(target: str, tenant: str) -> AsyncIterator[Evaluator]:
    metadata = (("authorization", f"Bearer token-of-{tenant}"),)
    async with open_channel(target) as channel:
        yield RemoteEvaluator(channel, target, timeout_s=60.0, metadata=metadata)


async def passages_of(evaluator: Evaluator, evaluation_id: str) -> set[str]:
    page = await evaluator.list_predictions(evaluation_id, detailed=True)
    return {
        passage.id
        for prediction in page.predictions
        for event in prediction.events
        if isinstance(event, PassagesRetrieved)
        for passage in event.passages
    }


async def test_an_evaluation_on_a_forbidden_index_is_refused_as_if_it_had_never_been(
    target: str,
) -> None:
    refused = set()
    async with calling(target, "acme") as evaluator:
        for name in (FORBIDDEN, ABSENT):
            for indexes in ((name,), ("shared", name)):
                request = replace(REQUEST, indexes=indexes)
                with pytest.raises(NotFound) as caught:
                    await evaluator.create_evaluation(request, sent([ASKED]))
                refused.add(f"{caught.value.message} {caught.value.metadata}".replace(name, "X"))
        assert not (await evaluator.list_evaluations()).evaluations
    assert refused == {
        "no index 'X' (the caller may read: acme-docs, shared) {'index': 'X'}",
    }


async def test_the_mandatory_filters_apply_to_every_retrieval_of_an_evaluation(
    target: str,
) -> None:
    async with calling(target, "acme") as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent([ASKED]))
        last = await ended(evaluator, created)
        assert last.evaluation.state is EvaluationState.SUCCEEDED
        assert await passages_of(evaluator, created.id) == {"acme-en", "acme-de-fr"}
        report = await evaluator.report(created.id, ReportFormat.MARKDOWN)
        assert "| filters | tenant: acme; lang: en, de |" in report
    async with calling(target, "all") as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent([ASKED]))
        await ended(evaluator, created)
        assert {"acme-fr", "globex-en"} & await passages_of(evaluator, created.id)


async def test_the_default_index_of_a_data_set_is_under_the_same_rules(target: str) -> None:
    of_lab = EvaluationRequest(REQUEST.policies, dataset="lab", limit=1)
    async with calling(target, "acme") as evaluator:
        with pytest.raises(NotFound, match=f"no index '{FORBIDDEN}'"):
            await evaluator.create_evaluation(of_lab, no_questions())
        alone = replace(of_lab, policies=(PolicyRequest("no_retrieval"),))
        created = await evaluator.create_evaluation(alone, no_questions())
        assert created.index == ""


async def test_the_error_of_an_evaluation_lists_no_indexes_of_others(
    target: str, identities: Path
) -> None:
    rules = {**RULES, "acme": {"indexes": {ABSENT: {}}}}
    write_identities(identities, tenants=rules)
    async with calling(target, "acme") as evaluator:
        request = replace(REQUEST, indexes=(ABSENT,))
        created = await evaluator.create_evaluation(request, sent([ASKED]))
        error = (await ended(evaluator, created)).evaluation.error
    assert error is not None
    assert (error.reason, error.message) == ("NOT_FOUND", f"no index '{ABSENT}'")


async def test_an_evaluation_is_resumed_under_the_rules_of_now(
    target: str, identities: Path
) -> None:
    async with calling(target, "acme") as evaluator:
        created = await evaluator.create_evaluation(REQUEST, sent([ASKED]))
        await ended(evaluator, created)
        await evaluator.resume_evaluation(created.id)
        write_identities(identities, tenants={**RULES, "acme": {"indexes": {}}})
        with pytest.raises(NotFound, match="no index 'shared'"):
            await evaluator.resume_evaluation(created.id)
        narrower = {"indexes": {"shared": {"tenant": "acme", "lang": "de"}}}
        write_identities(identities, tenants={**RULES, "acme": narrower})
        with pytest.raises(WrongState, match="the access rules of the evaluation's indexes"):
            await evaluator.resume_evaluation(created.id)
    async with calling(target, "all") as operator:
        await operator.resume_evaluation(created.id)


async def test_the_filters_of_several_indexes_have_one_limit(target: str, identities: Path) -> None:
    indexes = {
        name: {f"{name.replace('-', '_')}_{at}": "x" for at in range(9)}
        for name in ("shared", "acme-docs")
    }
    write_identities(identities, tenants={**RULES, "acme": {"indexes": indexes}})
    async with calling(target, "acme") as evaluator:
        request = replace(REQUEST, indexes=tuple(indexes))
        with pytest.raises(InvalidRequest, match="must be at most 16, not 18"):
            await evaluator.create_evaluation(request, sent([ASKED]))
