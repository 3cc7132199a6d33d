"""For whom an evaluation is, where callers prove who they are."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from scaar.core.errors import AlreadyExists, InvalidRequest, NotFound, PermissionDenied
from scaar.core.evaluations import EvaluationDescription, EvaluationState, ReportFormat
from scaar.core.ports import Evaluator
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.runtime.channel_tls import channel_credentials
from scaar.runtime.channels import open_channel
from scaar.runtime.server import open_server
from scaar.runtime.tls import TlsFiles
from scaar.testing.certificates import Authority
from scaar.testing.conformance.evaluator import QUESTIONS, REQUEST, ended, sent
from scaar.testing.steady_answerer import SteadyAnswerer
from scaar.wire.evaluator import EvaluatorServicer, RemoteEvaluator
from scaar.wire.status import status_of

TENANTS = {"one": "acme", "two": "globex", "all": "operations"}
CALLS: dict[str, Callable[[Evaluator, str], Awaitable[object]]] = {
    "GetEvaluation": lambda evaluator, name: evaluator.get_evaluation(name),
    "CancelEvaluation": lambda evaluator, name: evaluator.cancel_evaluation(name),
    "ResumeEvaluation": lambda evaluator, name: evaluator.resume_evaluation(name),
    "WatchEvaluation": lambda evaluator, name: anext(evaluator.watch_evaluation(name)),
    "GetReport": lambda evaluator, name: evaluator.report(name, ReportFormat.JSON),
    "ListPredictions": lambda evaluator, name: evaluator.list_predictions(name),
}
"""Every call that names an evaluation."""


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def answerer() -> SteadyAnswerer:
    return SteadyAnswerer()


@pytest.fixture
async def target(
    authority: Authority, tmp_path: Path, answerer: SteadyAnswerer
) -> AsyncIterator[str]:
    """An evaluator that knows two tenants, and one that sees all."""
    file, issued = tmp_path / "identities.yaml", authority.issue()
    lines = (f"  {sha256(each.encode()).hexdigest()}: {name}\n" for each, name in TENANTS.items())
    file.write_text("tokens:\n" + "".join(lines))
    settings = EvaluatorSettings(
        tls_cert_file=issued.cert,
        tls_key_file=issued.key,
        identities_file=file,
        operator_tenants=("operations",),
        stop_grace_s=0.0,
    )
    hosted = open_evaluator(
        settings,
        answerer,
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=lambda seed: "lab",
    )
    async with (
        hosted as evaluator,
        open_server(
            [EvaluatorServicer(evaluator)], "127.0.0.1:0", settings, status_of=status_of
        ) as server,
    ):
        yield server.target


@asynccontextmanager
async def asking(target: str, authority: Authority, token: str) -> AsyncIterator[Evaluator]:
    credentials = channel_credentials(TlsFiles("", authority.ca), lambda: token)
    async with open_channel(target, credentials=credentials) as channel:
        yield RemoteEvaluator(channel, target, timeout_s=60.0)


async def test_an_evaluation_is_for_the_tenant_that_its_caller_is(
    target: str, authority: Authority
) -> None:
    for token, tenant in TENANTS.items():
        async with asking(target, authority, token) as evaluator:
            created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
            named = replace(REQUEST, tenant=tenant)
            again = await evaluator.create_evaluation(named, sent(QUESTIONS))
        assert created.tenant == again.tenant == tenant


async def test_an_evaluation_for_another_tenant_is_refused(
    target: str, authority: Authority
) -> None:
    async with asking(target, authority, "one") as evaluator:
        with pytest.raises(PermissionDenied, match="the caller's tenant is 'acme'"):
            await evaluator.create_evaluation(replace(REQUEST, tenant="globex"), sent(QUESTIONS))
        assert not (await evaluator.list_evaluations()).evaluations


async def made(target: str, authority: Authority, token: str, name: str) -> EvaluationDescription:
    """An evaluation of the token's tenant by that request id, at its end."""
    async with asking(target, authority, token) as evaluator:
        request = replace(REQUEST, request_id=name)
        created = await evaluator.create_evaluation(request, sent(QUESTIONS))
        return (await ended(evaluator, created)).evaluation


@pytest.mark.parametrize("method", CALLS)
async def test_another_tenants_evaluation_is_not_found_as_if_it_had_never_been(
    target: str, authority: Authority, method: str
) -> None:
    evaluation = await made(target, authority, "one", "r")
    expected = set()
    async with asking(target, authority, "two") as evaluator:
        for name in (evaluation.id, "0" * len(evaluation.id)):
            with pytest.raises(NotFound) as caught:
                await CALLS[method](evaluator, name)
            expected.add(f"{caught.value.message} {caught.value.metadata}".replace(name, "ID"))
    assert len(expected) == 1
    async with asking(target, authority, "one") as evaluator:
        assert await evaluator.get_evaluation(evaluation.id) == evaluation


async def test_another_tenant_does_not_end_an_evaluation_that_runs(
    target: str, authority: Authority, answerer: SteadyAnswerer
) -> None:
    answerer.answering.clear()
    async with (
        asking(target, authority, "one") as owner,
        asking(target, authority, "two") as stranger,
    ):
        created = await owner.create_evaluation(REQUEST, sent(QUESTIONS))
        with pytest.raises(NotFound):
            await stranger.cancel_evaluation(created.id)
        answerer.answering.set()
        last = await ended(owner, created)
    assert last.evaluation.state is EvaluationState.SUCCEEDED


async def test_lists_have_only_the_tenants_items_and_page_tokens_are_bound_to_the_tenant(
    target: str, authority: Authority
) -> None:
    mine, others = [], []
    for name in "ab":
        mine.append(await made(target, authority, "one", name))
        others.append(await made(target, authority, "two", name))
    async with (
        asking(target, authority, "one") as evaluator,
        asking(target, authority, "two") as stranger,
    ):
        first = await evaluator.list_evaluations(page_size=1)
        rest = await evaluator.list_evaluations(page_token=first.next_page_token)
        assert (*first.evaluations, *rest.evaluations) == tuple(mine[::-1])
        assert rest.next_page_token == ""
        succeeded = await stranger.list_evaluations(states=(EvaluationState.SUCCEEDED,))
        assert succeeded.evaluations == tuple(others[::-1])
        with pytest.raises(InvalidRequest, match="page_token: belongs to another query"):
            await stranger.list_evaluations(page_token=first.next_page_token)
        page = await evaluator.list_predictions(mine[0].id, page_size=1)
        with pytest.raises(NotFound):
            await stranger.list_predictions(mine[0].id, page_token=page.next_page_token)
        with pytest.raises(InvalidRequest, match="page_token: belongs to another query"):
            await stranger.list_predictions(others[0].id, page_token=page.next_page_token)


async def test_a_request_id_that_another_tenant_used_is_free(
    target: str, authority: Authority
) -> None:
    first = await made(target, authority, "one", "nightly")
    async with asking(target, authority, "two") as evaluator:
        # The other tenant's request with this id differs, which must not be revealed.
        request = replace(REQUEST, request_id="nightly", timeout_s=7.0)
        second = await evaluator.create_evaluation(request, sent(QUESTIONS[:3]))
        assert (second.tenant, second.id == first.id) == ("globex", False)
        with pytest.raises(AlreadyExists) as caught:
            await evaluator.create_evaluation(replace(request, timeout_s=8.0), sent(QUESTIONS[:3]))
    assert caught.value.metadata == {"evaluation_id": second.id}


async def test_an_operator_sees_and_cancels_the_evaluations_of_all(
    target: str, authority: Authority, answerer: SteadyAnswerer
) -> None:
    evaluations = [await made(target, authority, token, "r") for token in TENANTS]
    async with asking(target, authority, "all") as operator:
        first = await operator.list_evaluations(page_size=1)
        rest = await operator.list_evaluations(page_token=first.next_page_token)
        assert (*first.evaluations, *rest.evaluations) == tuple(evaluations[::-1])
        for each in evaluations:
            assert await operator.get_evaluation(each.id) == each
            assert len((await operator.list_predictions(each.id)).predictions) == each.done
        answerer.answering.clear()
        request = replace(REQUEST, request_id="long")
        async with asking(target, authority, "one") as owner:
            created = await owner.create_evaluation(request, sent(QUESTIONS))
            cancelled = await operator.cancel_evaluation(created.id)
            assert await owner.get_evaluation(created.id) == cancelled
        assert cancelled.state is EvaluationState.CANCELLED
        assert (await operator.create_evaluation(REQUEST, sent(QUESTIONS))).tenant == "operations"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "OPERATOR_TENANTS: requires SCAAR_EVALUATOR_IDENTITIES_FILE"),
        (
            {"identities_file": Path("file")},
            r"OPERATOR_TENANTS\[1\]: must have 1 to 128 characters",
        ),
    ],
)
async def test_operator_tenants_that_no_caller_can_have_prevent_the_start(
    tmp_path: Path, settings: dict[str, Any], expected: str
) -> None:
    wrong = EvaluatorSettings(operator_tenants=("operations", ""), **settings)
    url = f"sqlite:///{tmp_path}/evaluations.sqlite"
    with pytest.raises(InvalidRequest, match=expected):
        async with open_evaluator(
            wrong, SteadyAnswerer(), database_url=url, lab_index=lambda seed: "lab"
        ):
            pass
    assert not [*tmp_path.iterdir()]
