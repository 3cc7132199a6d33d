"""What a generation adds to the clients of model servers, in one run on the lab's servers.

    python -m integration_tests.generator.overhead

The same generations of eight tokens, turn about: by scaar's engine, and by the server's own client
alone. The servers are processes of their own.
"""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from statistics import median

from openai import AsyncOpenAI
from text_generation import AsyncClient

from scaar.core.types import GenerateRequest
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings

CALLS, WARM_UP, TOKENS = 200, 20, 8
PROMPT = "Question: Who directed the film The Haunted Fountain?\nAnswer:"
_URL = re.compile(r"http://127\.0\.0\.1:\d+")


@contextmanager
def lab_server(kind: str) -> Iterator[str]:
    """``scaar lab tgi`` or ``scaar lab openai`` on a free port; its URL."""
    command = (sys.executable, "-m", "scaar.cli", "lab", kind, "--address", "127.0.0.1:0")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            found = _URL.search(process.stderr.readline())
            assert found is not None
            yield found[0]
        finally:
            process.terminate()


async def by_text_generation(url: str) -> None:
    client = AsyncClient(url)
    async for _ in client.generate_stream(PROMPT, max_new_tokens=TOKENS, do_sample=False):
        pass


async def compare(name: str, url: str, engine: str, raw: Callable[[], Awaitable[None]]) -> None:
    """Prints the milliseconds of both, and their difference."""
    settings = GeneratorSettings(engine=engine, url=url, prompt_profile="lab")
    async with open_generator(settings) as generator:

        async def whole() -> None:
            request = GenerateRequest(PROMPT, max_tokens=TOKENS)
            async with aclosing(generator.generate(request)) as events:
                async for _ in events:
                    pass

        took: tuple[list[float], list[float]] = ([], [])
        for number in range(WARM_UP + CALLS):
            for way, call in enumerate((raw, whole)):
                began = time.perf_counter()
                await call()
                if number >= WARM_UP:
                    took[way].append((time.perf_counter() - began) * 1000)
    added = median(mine - theirs for theirs, mine in zip(*took, strict=True))
    print(
        f"{name}: raw {median(took[0]):.2f} ms, scaar {median(took[1]):.2f} ms, "
        f"added {added:.2f} ms (medians of {CALLS})",
        flush=True,
    )


async def measure() -> None:
    with lab_server("tgi") as url:
        await compare("text-generation", url, "tgi", lambda: by_text_generation(url))
    with lab_server("openai") as url:
        async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
            model = (await client.models.list()).data[0].id

            async def raw() -> None:
                stream = await client.completions.create(
                    model=model,
                    prompt=PROMPT,
                    max_tokens=TOKENS,
                    temperature=0,
                    logprobs=0,
                    stream=True,
                )
                async for _ in stream:
                    pass

            await compare("openai", url, "openai", raw)


if __name__ == "__main__":
    asyncio.run(measure())
