"""Readiness of a service, which follows the services that it depends on."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import grpc

from scaar.core.errors import ScaarError
from scaar.runtime.channels import open_channel
from scaar.runtime.failover import READY_WAIT_S
from scaar.runtime.renewing_channel import CredentialsSource

Check = Callable[[], Awaitable[object]]
"""Raises a :class:`~scaar.core.errors.ScaarError` while the service cannot serve."""

CHECK_EVERY_S = 1.0
_LOGGER = logging.getLogger(__name__)
_READY = grpc.ChannelConnectivity.READY


@dataclass(frozen=True, slots=True)
class Need:
    """A service that another one cannot do without."""

    target: str
    """Where it is, ``dns:///host:port``."""
    service: str
    """Full name in the contract, which health checks use."""
    credentials: CredentialsSource | None = None
    """Channel credentials; None for plaintext."""


@asynccontextmanager
async def watch_readiness(
    needs: Sequence[Need], on_change: Callable[[bool], None], *, check: Check | None = None
) -> AsyncIterator[None]:
    """Call ``on_change`` with the readiness now and after every change, until the block ends.

    The service is ready while every need is serving and the ``check``, made every
    :data:`CHECK_EVERY_S`, raises nothing.

    A need is watched through a channel like that of the calls. It counts as lost once none of its
    servers has been ready for :data:`~scaar.runtime.failover.READY_WAIT_S`, since calls wait as
    long: a reconnect or the replacement of a server does not change the readiness.
    """
    serving: dict[Need | Check, bool] = dict.fromkeys(needs, False)
    if check is not None:
        serving[check] = await _passes(check, before=True)
    on_change(all(serving.values()))

    def turn(need: Need, ready: bool) -> None:
        serving[need] = ready
        state = "serving" if ready else "not serving"
        _LOGGER.info("%s at %s is %s", need.service, need.target, state)
        on_change(all(serving.values()))

    async def watch(need: Need) -> None:
        async with open_channel(
            need.target, service=need.service, credentials=need.credentials
        ) as channel:
            while True:
                await channel.channel_ready()
                turn(need, True)
                with suppress(TimeoutError):
                    while True:
                        await channel.wait_for_state_change(_READY)
                        async with asyncio.timeout(READY_WAIT_S):
                            await channel.channel_ready()
                turn(need, False)

    async def keep_checking(check: Check) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            passes = await _passes(check, before=serving[check])
            if serving[check] != passes:
                serving[check] = passes
                on_change(all(serving.values()))

    watches = [asyncio.create_task(watch(need)) for need in dict.fromkeys(needs)]
    if check is not None:
        watches.append(asyncio.create_task(keep_checking(check)))
    try:
        yield
    finally:
        for task in watches:
            task.cancel()
        await asyncio.gather(*watches, return_exceptions=True)


async def _passes(check: Check, *, before: bool) -> bool:
    """Return whether the check passes. Log a failure unless it failed ``before``."""
    try:
        await check()
    except ScaarError as error:
        if before:
            _LOGGER.warning("not ready: %s", error)
        return False
    return True
