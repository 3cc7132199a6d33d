"""For whom an evaluation is, where callers prove who they are."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from scaar.core.errors import PermissionDenied
from scaar.core.ports import Evaluator
from scaar.evaluator.service.opening import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.runtime.channel_tls import channel_credentials
from scaar.runtime.channels import open_channel
from scaar.runtime.server import open_server
from scaar.runtime.tls import TlsFiles
from scaar.testing.certificates import Authority
from scaar.testing.conformance.evaluator import QUESTIONS, REQUEST, sent
from scaar.testing.steady_answerer import SteadyAnswerer
from scaar.wire.evaluator import EvaluatorServicer, RemoteEvaluator
from scaar.wire.status import status_of

TENANTS = {"one": "acme", "two": "globex"}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
async def target(authority: Authority, tmp_path: Path) -> AsyncIterator[str]:
    """An evaluator that knows two tenants."""
    file, issued = tmp_path / "identities.yaml", authority.issue()
    lines = (f"  {sha256(each.encode()).hexdigest()}: {name}\n" for each, name in TENANTS.items())
    file.write_text("tokens:\n" + "".join(lines))
    settings = EvaluatorSettings(
        tls_cert_file=issued.cert,
        tls_key_file=issued.key,
        identities_file=file,
        stop_grace_s=0.0,
    )
    hosted = open_evaluator(
        settings,
        SteadyAnswerer(),
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
        with pytest.raises(PermissionDenied, match="the caller is known as 'acme'"):
            await evaluator.create_evaluation(replace(REQUEST, tenant="globex"), sent(QUESTIONS))
        assert not (await evaluator.list_evaluations()).evaluations
