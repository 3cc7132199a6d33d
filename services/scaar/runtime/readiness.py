"""Whether what a service cannot do without is there: its readiness, beside its liveness."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from scaar.core.errors import ScaarError
from scaar.runtime.channels import open_channel
from scaar.runtime.renewing import CredentialsSource

Check = Callable[[], Awaitable[object]]
"""Raises a :class:`~scaar.core.errors.ScaarError` while the service cannot serve."""

CHECK_EVERY_S = 1.0
_LOGGER = logging.getLogger(__name__)
_READY = grpc.ChannelConnectivity.READY
_IDLE = grpc.ChannelConnectivity.IDLE


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

    What is watched is a channel like the one that the calls go by, over the same connections: it
    connects again and again, asks every address for its health, and is ready while one of them
    serves.
    """
    serving: dict[Need | Check, bool] = dict.fromkeys(needs, False)
    if check is not None:
        serving[check] = await _passes(check, before=True)
    tell(all(serving.values()))

    async def watch(need: Need) -> None:
        async with open_channel(
            need.target, service=need.service, credentials=need.credentials
        ) as channel:
            while True:
                state = channel.get_state(try_to_connect=True)
                # A channel goes idle when nothing is asked of it, and then tells nothing.
                if state is not _IDLE and serving[need] != (state is _READY):
                    serving[need] = state is _READY
                    verb = "serves" if serving[need] else "does not serve"
                    _LOGGER.info("%s at %s %s", need.service, need.target, verb)
                    tell(all(serving.values()))
                await channel.wait_for_state_change(state)

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
