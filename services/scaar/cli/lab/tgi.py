"""``scaar lab tgi``: the lab's language model behind the API of TGI."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from scaar.core.distributions import lab_required
from scaar.core.errors import CapabilityMissing

DEFAULT_ADDRESS = "127.0.0.1:8080"


def tgi(
    address: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Address to listen on; port 0 takes a free port."),
    ] = DEFAULT_ADDRESS,
    fail: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND[=TIMES]",
            help="Fault to inject into every generation, or into the first TIMES; an unknown KIND "
            "prints the list.",
        ),
    ] = None,
    max_concurrent_requests: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Maximum number of concurrent generations; further requests are rejected.",
        ),
    ] = 128,
    pace_ms: Annotated[
        float,
        typer.Option(
            metavar="MS",
            min=0,
            max=60_000,
            help="Minimum time between two tokens of a generation, in milliseconds.",
        ),
    ] = 0.0,
) -> None:
    """Serve the lab's model with the API of Hugging Face's TGI.

    Use it to try the engine tgi without a GPU.
    """
    asyncio.run(_serve(address, fail or (), max_concurrent_requests, pace_ms / 1000))


async def _serve(
    address: str, fail: Sequence[str], max_concurrent_requests: int, pace_s: float
) -> None:
    try:
        with lab_required("scaar lab tgi"):
            from scaar.lab_servers.tgi import open_tgi_server
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
        command = f"{setting} SCAAR_GENERATOR_PROMPT_PROFILE=lab scaar ask ..."
        print(f"Ask: {command}", file=sys.stderr, flush=True)
        await stopping.wait()
