"""Whether what a service cannot do without is there: its readiness, beside its liveness."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import grpc

from scaar.core.errors import ScaarError
from scaar.runtime.channels import open_channel
from scaar.runtime.failover import READY_WAIT_S
from scaar.runtime.renewing import CredentialsSource

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
    """Its full name in the contract, which its readiness goes by."""
    credentials: CredentialsSource | None = None
    """What it is asked with; None for plaintext."""


@asynccontextmanager
async def watching(
    needs: Sequence[Need], tell: Callable[[bool], None], *, check: Check | None = None
) -> AsyncIterator[None]:
    """Tells whether all that is needed serves, at first and at every change.

    A ``check`` that raises nothing is part of that; it is made every :data:`CHECK_EVERY_S`.

    Each need is watched by a channel like that of the calls. A need counts as lost once no server
    of it has been ready for :data:`~scaar.runtime.failover.READY_WAIT_S`, since calls wait as long:
    connections that are made again, or a server that is replaced, change nothing.
    """
    serving: dict[Need | Check, bool] = dict.fromkeys(needs, False)
    if check is not None:
        serving[check] = await _passes(check, before=True)
    tell(all(serving.values()))

    def turn(need: Need, ready: bool) -> None:
        serving[need] = ready
        verb = "serves" if ready else "does not serve"
        _LOGGER.info("%s at %s %s", need.service, need.target, verb)
        tell(all(serving.values()))

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
                tell(all(serving.values()))

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
    """Whether the check passes; a failure is logged unless it failed ``before``."""
    try:
        await check()
    except ScaarError as error:
        if before:
            _LOGGER.warning("not ready: %s", error)
        return False
    return True
