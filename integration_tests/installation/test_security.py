"""TLS and tokens: accepted callers, and errors of others."""

from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .access import ORCHESTRATOR, Access
from .client import PATIENCE_S, answer, error_details, request
from .needs import Need, needs
from .ours.security import Security, make_security
from .test_health import SERVING, health_of


@pytest.fixture
def stranger(tmp_path: Path) -> Security:
    """What another authority made."""
    return make_security(tmp_path)


async def refused(access: Access) -> grpc.aio.AioRpcError:
    """Return the error of a call that does not wait for readiness."""
    async with access.channel() as channel:
        stub = OrchestratorServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stub.Answer(request(access), timeout=PATIENCE_S)
    return raised.value


@needs(Need.TLS)
async def test_a_client_with_all_required_credentials_is_answered(secured: Access) -> None:
    async with secured.channel() as channel:
        answered = await answer(channel, request(secured, "single_round"))
    assert answered.answer.answer


@needs(Need.TLS)
async def test_plaintext_is_refused(secured: Access) -> None:
    plain = replace(secured, ca=None, cert=None, key=None, token="")
    assert (await refused(plain)).code() is grpc.StatusCode.UNAVAILABLE


@needs(Need.TLS)
async def test_a_client_of_another_authority_does_not_trust_it(
    secured: Access, stranger: Security
) -> None:
    error = await refused(replace(secured, ca=stranger.ca))
    assert error.code() is grpc.StatusCode.UNAVAILABLE


@needs(Need.TLS, Need.CERTIFICATE)
async def test_a_client_without_a_certificate_or_with_another_authoritys_is_refused(
    secured: Access, stranger: Security
) -> None:
    for cert, key in ((None, None), (stranger.cert, stranger.key)):
        error = await refused(replace(secured, cert=cert, key=key))
        assert error.code() is grpc.StatusCode.UNAVAILABLE


@needs(Need.TLS, Need.TOKEN)
@pytest.mark.parametrize("token", ["", "another"])
async def test_a_caller_without_a_valid_token_is_unauthenticated(
    secured: Access, token: str
) -> None:
    said = error_details(await refused(replace(secured, token=token)))
    assert (said.code, said.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")


@needs(Need.TLS, Need.TOKEN)
async def test_a_known_caller_speaks_for_no_other_tenant(secured: Access) -> None:
    async with secured.channel() as channel:
        stub = OrchestratorServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stub.Answer(
                request(secured),
                metadata=(("x-scaar-tenant", "somebody-else"),),
                timeout=PATIENCE_S,
                wait_for_ready=True,
            )
    said = error_details(raised.value)
    assert (said.code, said.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")


@needs(Need.TLS, Need.TOKEN)
async def test_health_needs_no_token(secured: Access) -> None:
    async with replace(secured, token="").channel() as channel:
        assert await health_of(channel, ORCHESTRATOR) == SERVING
