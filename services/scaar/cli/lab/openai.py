"""``scaar lab openai``: the lab's language model behind an OpenAI-compatible API."""

import asyncio
import enum
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from scaar.core.distributions import lab_required
from scaar.core.errors import CapabilityMissing

DEFAULT_ADDRESS = "127.0.0.1:8000"


class Dialect(enum.StrEnum):
    """Servers whose behaviour can be reproduced."""

    OPENAI = "openai"
    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_CPP = "llama_cpp"
    GENERIC = "generic"


def openai(
    address: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Address to listen on; port 0 takes a free port."),
    ] = DEFAULT_ADDRESS,
    dialect: Annotated[
        Dialect, typer.Option(help="Server whose behaviour is reproduced.")
    ] = Dialect.VLLM,
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
) -> None:
    """Serve the lab's model with an OpenAI-compatible API.

    It behaves as vLLM, SGLang, llama.cpp, OpenAI or a server that names none of these, to try the
    engine openai without them.
    """
    asyncio.run(_serve(address, dialect, fail or (), max_concurrent_requests))


async def _serve(
    address: str, dialect: Dialect, fail: Sequence[str], max_concurrent_requests: int
) -> None:
    try:
        with lab_required("scaar lab openai"):
            from scaar.lab_servers.openai import open_openai_server
    except ModuleNotFoundError as error:
        text = f"the lab's OpenAI server needs {error.name}: install scaar[all]"
        raise CapabilityMissing(text) from error
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with open_openai_server(
        address,
        dialect=dialect.value,
        fail=fail,
        max_concurrent_requests=max_concurrent_requests,
    ) as server:
        print(
            f"OpenAI-compatible API ({dialect}) serving at {server.url}",
            file=sys.stderr,
            flush=True,
        )
        setting = f"SCAAR_GENERATOR_ENGINE=openai SCAAR_GENERATOR_URL={server.url}"
        command = f"{setting} SCAAR_GENERATOR_PROMPT_PROFILE=lab scaar ask ..."
        print(f"Ask: {command}", file=sys.stderr, flush=True)
        await stopping.wait()
