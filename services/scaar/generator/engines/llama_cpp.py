"""Engine ``llama_cpp``: a GGUF file in llama.cpp's server, a supervised child process."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from openai import AsyncOpenAI

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    NotFound,
)
from scaar.core.loop.budget import remaining_time_s
from scaar.core.types import (
    AttendRequest,
    Attention,
    GenerateRequest,
    GenerationEvent,
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
)
from scaar.generator.engines.llama_cpp_server.digest import digest_of
from scaar.generator.engines.llama_cpp_server.sizes import sizes_of
from scaar.generator.engines.llama_cpp_server.supervisor import ServerSupervisor, running_server
from scaar.generator.engines.openai import OpenAiGenerator
from scaar.generator.engines.openai_server.client import open_child_client
from scaar.generator.engines.openai_server.prompting import ModelFile
from scaar.generator.engines.openai_server.requests import OpenAiCalls
from scaar.generator.engines.served.prompt_text import read_prompt_text
from scaar.generator.gguf.model import GgufModel, read_model
from scaar.generator.settings import GeneratorSettings
from scaar.model_store.catalogue import DEFAULT_MODEL

_OTHER_CONNECTIONS = 4
"""Connections beside those of generations, for descriptions."""


@asynccontextmanager
async def open_llama_cpp_generator(
    settings: GeneratorSettings,
) -> AsyncIterator["LlamaCppGenerator"]:
    """Open the generator over the GGUF file of the settings; see :func:`open_generator`.

    Raises:
        NotFound: no model is set, or the file cannot be read.
        DataCorrupt: the file is no model that llama.cpp can run.
        BackendUnavailable: there is not enough memory, or the server does not start.
    """
    if find_spec("xllamacpp") is None:
        text = "engine llama_cpp needs xllamacpp: install scaar[llama-cpp]"
        raise CapabilityMissing(text, engine="llama_cpp")
    if settings.model is None:
        get = f"run scaar models get {DEFAULT_MODEL} and set SCAAR_GENERATOR_MODEL to this name"
        raise NotFound(f"no language model is set: {get}, or set it to a GGUF file")
    path = Path(settings.model)
    model = await asyncio.to_thread(read_model, path)
    configured = await read_prompt_text(settings)
    sizes = sizes_of(
        model,
        slots=settings.slots,
        context=settings.max_total_tokens,
        threads=settings.threads,
    )
    # The process reads the file, too, so that both are done at about the same time.
    digest = asyncio.create_task(digest_of(path))
    connections = settings.max_concurrent + _OTHER_CONNECTIONS
    of_server = settings.model_copy(update={"dialect": "llama_cpp", "max_total_tokens": None})
    try:
        async with (
            running_server(model, sizes, connections=connections) as supervisor,
            open_child_client(of_server, await supervisor.ready()) as client,
        ):
            server = f"llama.cpp's server of {path.name}"
            calls = OpenAiCalls(client, of_server, supervisor.key, server=server)
            child, sha256 = _Child(supervisor, client), await digest
            inner = OpenAiGenerator(
                *(calls, of_server),
                configured=configured,
                sleep=child.pause,
                file=ModelFile(path.name, sha256),
            )
            generator = LlamaCppGenerator(inner, child, model, revision=sha256)
            await generator.describe_model()
            yield generator
    finally:
        digest.cancel()


class _Child:
    """The server and its client, which follows the server to its new address after a restart."""

    def __init__(self, supervisor: ServerSupervisor, client: AsyncOpenAI) -> None:
        self.supervisor = supervisor
        self._client = client

    async def ready(self) -> None:
        """Wait until the server runs.

        Raises:
            DeadlineExceeded: the deadline passed before.
            ScaarError: the server cannot run.
        """
        limit = asyncio.timeout(remaining_time_s())
        try:
            async with limit:
                address = await self.supervisor.ready()
        except TimeoutError as error:
            if not limit.expired():
                raise
            text = "the deadline passed while llama.cpp's server was starting"
            raise DeadlineExceeded(text) from error
        self._client.base_url = f"{address}/v1"

    async def pause(self, seconds: float) -> None:
        """Wait between the attempts of a call, and for the restart of a server that has ended."""
        await asyncio.sleep(seconds)
        await self.ready()


class LlamaCppGenerator:
    """A :class:`~scaar.core.ports.Generator` over a GGUF file, whose digest is the revision."""

    def __init__(
        self, inner: OpenAiGenerator, child: _Child, model: GgufModel, *, revision: str
    ) -> None:
        self._inner = inner
        self._child = child
        self._model = model
        self._revision = revision

    @property
    def supervisor(self) -> ServerSupervisor:
        """The supervisor of the process."""
        return self._child.supervisor

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the events of the server, once it runs.

        A call whose server ends before the first token is made again after the restart.
        """
        await self._child.ready()
        async with aclosing(self._inner.generate(request)) as events:
            async for event in events:
                yield event

    async def attend(self, request: AttendRequest) -> Attention:
        return await self._inner.attend(request)

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        await self._child.ready()
        return await self._inner.compute_logprobs(request)

    async def release_answer(self, answer_id: str) -> None:
        await self._inner.release_answer(answer_id)

    async def describe_model(self) -> ModelDescription:
        """Return the model.

        Raises:
            BackendUnavailable: the server is starting again, so that the service is not ready.
        """
        if self._child.supervisor.process is None:
            raise self._child.supervisor.failure or BackendUnavailable(
                "llama.cpp's server is starting again"
            )
        await self._child.ready()
        described = await self._inner.describe_model()
        return replace(
            described, model=self._model.name, revision=self._revision, engine="llama_cpp"
        )

    async def server_capabilities(self) -> Mapping[str, str]:
        """Return the capabilities of the server; see :class:`OpenAiGenerator`."""
        await self._child.ready()
        return await self._inner.server_capabilities()
