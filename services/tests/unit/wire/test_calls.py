"""Errors of calls near the end of their time."""

from collections.abc import Generator

import grpc
import pytest

from scaar.core.errors import BackendUnavailable, DeadlineExceeded
from scaar.core.loop.budget import CALL_MARGIN_S, deadline_in
from scaar.wire.calls import Endpoint, receive

ENDPOINT = Endpoint("dns:///generator:50052", "scaar.v1.GeneratorService")


class CancelledCall:
    """A call that its server cancelled."""

    def __await__(self) -> Generator[None, None, str]:
        nothing = grpc.aio.Metadata()
        raise grpc.aio.AioRpcError(grpc.StatusCode.CANCELLED, nothing, nothing, details="")
        yield

    def cancel(self) -> bool:
        return False


async def test_a_call_that_its_server_cancels_at_the_deadline_ran_out_of_time() -> None:
    with deadline_in(CALL_MARGIN_S), pytest.raises(DeadlineExceeded, match="in time") as caught:
        await receive(CancelledCall(), str, ENDPOINT)  # type: ignore[arg-type]
    assert caught.value.metadata["target"] == ENDPOINT.target
    with deadline_in(60), pytest.raises(BackendUnavailable, match="does not answer"):
        await receive(CancelledCall(), str, ENDPOINT)  # type: ignore[arg-type]
    with pytest.raises(BackendUnavailable, match="does not answer"):
        await receive(CancelledCall(), str, ENDPOINT)  # type: ignore[arg-type]
