"""Waiting for the processes of ``scaar up``, some of which load a model for minutes."""

import asyncio
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping
from contextlib import suppress

from scaar.cli.serve.services import HTTP_PORTS, ServiceName, full_name
from scaar.core.errors import BackendUnavailable
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.health import wait_until_serving

READY_TIMEOUT_S = 1800.0
"""Seconds for a service to become ready: a large model is read from the disk for minutes."""
NOTE_AFTER_S = 15.0
"""Seconds after which a service that is not ready is noted."""
_POLL_S = 0.1
_REASONS = {ServiceName.GENERATOR: ", a large model takes minutes to load"}


async def until_ready(
    addresses: Mapping[ServiceName, str],
    processes: Mapping[ServiceName, Process],
    note: Callable[[str], None],
) -> None:
    """Wait until the services at these addresses are ready; ``note`` gets a line for a slow one.

    Raises:
        BackendUnavailable: a process ended, or is not ready in time.
    """

    async def ready(name: ServiceName, address: str) -> None:
        waiting = asyncio.create_task(_until_serving(name, address))
        ended = asyncio.create_task(processes[name].wait())
        tasks = {waiting, ended}
        try:
            done, _ = await asyncio.wait(
                tasks, return_when=asyncio.FIRST_COMPLETED, timeout=NOTE_AFTER_S
            )
            if not done:
                reason = _REASONS.get(name, "")
                note(f"{name} is still starting{reason}; Ctrl-C stops the services")
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise BackendUnavailable(f"{name} did not start on {address}; its error is above")
            await waiting
        finally:
            waiting.cancel()
            ended.cancel()

    await asyncio.gather(*(ready(name, address) for name, address in addresses.items()))


async def _until_serving(name: ServiceName, address: str) -> None:
    if name not in HTTP_PORTS:
        await wait_until_serving(
            f"dns:///{address}",
            full_name(name),
            timeout_s=READY_TIMEOUT_S,
            credentials=read_channel_credentials(),
        )
        return
    host, _, port = address.rpartition(":")
    async with asyncio.timeout(READY_TIMEOUT_S):
        # A service of HTTP opens its port once it serves.
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(host, int(port))
                writer.close()
                return
            await asyncio.sleep(_POLL_S)
