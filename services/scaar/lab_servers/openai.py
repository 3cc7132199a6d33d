"""OpenAI-compatible server over the lab's language model, for tests and experiments.

It implements the dialects of vLLM, SGLang, the llama.cpp server and OpenAI, and a generic one, with
configurable failures. Requests for penalties, several choices, or sampling from less than the whole
vocabulary are rejected.
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
from scaar.lab_servers.address import host_and_port, listening
from scaar.lab_servers.openai_failures import Failures
from scaar.lab_servers.openai_generations import Generations
from scaar.lab_servers.openai_layouts import models_json
from scaar.lab_servers.openai_wire import Rejected

BODY_BYTES = 16_000_000
MAX_CONCURRENT_REQUESTS = 128


class OpenAiServer:
    """A server at the base URL ``url``, which requires ``api_key`` if it is set."""

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
        """Return the web application."""
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
                # Quotes the key, as careless servers do, to test that clients do not repeat it.
                text = f"Incorrect API key provided: {given.removeprefix('Bearer ')}"
                rejected = Rejected(401, text, code="invalid_api_key")
                return web.json_response(rejected.body(self._dialect), status=401)
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
    """Open the server over the lab's language model. Port 0 selects a free port.

    ``slow_s`` is the delay of every token of a slow generation.

    Raises:
        InvalidRequest: the address or a failure is invalid.
        BackendUnavailable: the address is in use.
    """
    host, port = host_and_port(address)
    failures = Failures(fail)
    folder = model_folder(LAB_LM)
    settings = GeneratorSettings(model=str(folder), max_concurrent=10_000)
    async with open_onnx_generator(settings) as engine:
        model = await engine.describe_model()
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.encode_special_tokens = True
        context = max_total_tokens or model.max_total_tokens
        generations = Generations(
            engine,
            tokenizer,
            failures,
            dialect=DIALECTS[dialect],
            model=model.model,
            limit=max_concurrent_requests,
            max_total_tokens=context,
            slow_s=slow_s,
        )
        server = OpenAiServer(
            dialect, model, generations, max_total_tokens=context, api_key=api_key
        )
        async with listening(server.app(), host, port, tls=tls) as url:
            server.url = f"{url}/v1"
            yield server
