"""``scaar lab tgi``: a TGI server over the lab's language model, until it is told to stop."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from scaar.core.errors import CapabilityMissing

DEFAULT_ADDRESS = "127.0.0.1:8080"


def tgi(
    address: Annotated[
        str, typer.Option(help="Where to listen, host:port; port 0 takes a free one.")
    ] = DEFAULT_ADDRESS,
    fail: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND[=TIMES]",
            help="What generations are to suffer, all of them or so many; a wrong kind lists all.",
            show_default=False,
        ),
    ] = None,
    max_concurrent_requests: Annotated[
        int, typer.Option(min=1, help="Generations at a time; one more is refused.")
    ] = 128,
    pace_ms: Annotated[
        float,
        typer.Option(
            min=0, max=60_000, help="The least time from one token of a generation to the next."
        ),
    ] = 0.0,
) -> None:
    """Serve the lab's language model as Hugging Face's TGI does, to try its engine out."""
    asyncio.run(_serve(address, fail or (), max_concurrent_requests, pace_ms / 1000))


async def _serve(
    address: str, fail: Sequence[str], max_concurrent_requests: int, pace_s: float
) -> None:
    try:
        from scaar.testing.lab_servers.tgi import open_tgi_server
    except ModuleNotFoundError as error:
        text = f"the lab's TGI server needs {error.name}: install scaar[generator,tgi]"
        raise CapabilityMissing(text) from error
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with open_tgi_server(
        address, fail=fail, max_concurrent_requests=max_concurrent_requests, pace_s=pace_s
    ) as server:
        print(f"TGI serving at {server.url}", file=sys.stderr, flush=True)
        setting = f"SCAAR_GENERATOR_ENGINE=tgi SCAAR_GENERATOR_URL={server.url}"
        ask = f"{setting} SCAAR_GENERATOR_PROMPT_PROFILE=lab scaar ask ..."
        print(f"Ask: {ask}", file=sys.stderr, flush=True)
        await stopping.wait()
