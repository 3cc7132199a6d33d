"""``scaar lab openai``: a server of OpenAI's interface over the lab's language model."""

import asyncio
import enum
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from scaar.core.errors import CapabilityMissing

DEFAULT_ADDRESS = "127.0.0.1:8000"


class SpokenDialect(enum.StrEnum):
    """The servers that it speaks as."""

    OPENAI = "openai"
    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_CPP = "llama_cpp"


def openai(
    address: Annotated[
        str, typer.Option(help="Where to listen, host:port; port 0 takes a free one.")
    ] = DEFAULT_ADDRESS,
    dialect: Annotated[
        SpokenDialect, typer.Option(help="Which server it speaks as.")
    ] = SpokenDialect.VLLM,
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
) -> None:
    """Serve the lab's language model as vLLM, SGLang, llama.cpp or OpenAI do, to try them out."""
    asyncio.run(_serve(address, dialect, fail or (), max_concurrent_requests))


async def _serve(
    address: str, dialect: SpokenDialect, fail: Sequence[str], max_concurrent_requests: int
) -> None:
    try:
        from scaar.testing.lab_servers.openai import open_openai_server
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
            f"OpenAI's interface ({dialect}) serving at {server.url}", file=sys.stderr, flush=True
        )
        setting = f"SCAAR_GENERATOR_ENGINE=openai SCAAR_GENERATOR_URL={server.url}"
        ask = f"{setting} SCAAR_GENERATOR_PROMPT_PROFILE=lab scaar ask ..."
        print(f"Ask: {ask}", file=sys.stderr, flush=True)
        await stopping.wait()
