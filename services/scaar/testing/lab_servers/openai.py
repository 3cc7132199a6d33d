"""An OpenAI-compatible server over the lab's language model, for tests and for trying things out.

It speaks as vLLM, SGLang, llama.cpp's server or OpenAI do, and fails as it is told to. What the
lab's engine cannot do (sampling, penalties, several choices) is refused.
"""

import hmac
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from tokenizers import Tokenizer

from scaar.core.types import ModelDescription
from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.engines.openai_server.dialects import DIALECTS, DialectName
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.lab_servers.listening import host_and_port, listening
from scaar.testing.lab_servers.openai_failures import Failures
from scaar.testing.lab_servers.openai_generations import Generations
from scaar.testing.lab_servers.openai_layouts import models_json
from scaar.testing.lab_servers.openai_wire import Refused

BODY_BYTES = 16_000_000
MAX_CONCURRENT_REQUESTS = 128


class OpenAiServer:
    """A server that listens at ``url``, the base of its routes, for whoever has its ``api_key``."""

    def __init__(
        self,
        dialect: DialectName,
        model: ModelDescription,
        generations: Generations,
        *,
        max_total_tokens: int,
        api_key: str | None,
    ) -> None:
        self._dialect = dialect
        self._model = model
        self._max_total = max_total_tokens
        self.api_key = api_key
        self.url = ""
        self.generations = generations
        self.failures = generations.failures

    def app(self) -> web.Application:
        """The application of its routes."""
        app = web.Application(client_max_size=BODY_BYTES, middlewares=[self._authorised()])
        app.router.add_post("/v1/completions", self._completions)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/health", self._health)
        return app

    def _authorised(self) -> Middleware:
        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            expected = f"Bearer {self.api_key}".encode()
            given = request.headers.get("Authorization", "")
            closed = self.api_key is not None and request.path != "/health"
            if closed and not hmac.compare_digest(given.encode(), expected):
                # As careless as a server can be: who shows its text shows the key.
                told = f"Incorrect API key provided: {given.removeprefix('Bearer ')}"
                refused = Refused(401, told, code="invalid_api_key")
                return web.json_response(refused.body(self._dialect), status=401)
            return await handler(request)

        return check

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        return await self.generations.answered(request, chat=False)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self.generations.answered(request, chat=True)

    async def _models(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(models_json(self._dialect, self._model, self._max_total))

    async def _health(self, _: web.Request) -> web.StreamResponse:
        return web.Response()


@asynccontextmanager
async def open_openai_server(
    address: str = "127.0.0.1:0",
    *,
    dialect: DialectName = "vllm",
    fail: Sequence[str] = (),
    max_concurrent_requests: int = MAX_CONCURRENT_REQUESTS,
    max_total_tokens: int | None = None,
    api_key: str | None = None,
    slow_s: float = 1.0,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[OpenAiServer]:
    """The server over the lab's language model, at an address whose port 0 takes a free one.

    ``slow_s`` is what every token of a slow generation takes more.

    Raises:
        InvalidRequest: the address or a kind of failure is none.
        BackendUnavailable: something listens there already.
    """
    host, port = host_and_port(address)
    failures = Failures(fail)
    folder = model_folder(LAB_LM)
    settings = GeneratorSettings(model=str(folder), max_concurrent=10_000)
    async with open_onnx_generator(settings) as engine:
        model = await engine.describe_model()
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.encode_special_tokens = True
        most = max_total_tokens or model.max_total_tokens
        generations = Generations(
            engine,
            tokenizer,
            failures,
            dialect=DIALECTS[dialect],
            model=model.model,
            most=max_concurrent_requests,
            max_total_tokens=most,
            slow_s=slow_s,
        )
        server = OpenAiServer(dialect, model, generations, max_total_tokens=most, api_key=api_key)
        async with listening(server.app(), host, port, tls=tls) as url:
            server.url = f"{url}/v1"
            yield server
