"""TGI-compatible server over the lab's language model, for tests and experiments.

It implements the API of text-generation-inference 3.3.7, with configurable failures. Requests for
penalties, grammars, top-k or top-p are rejected.
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
from scaar.generator.pace import PacedGenerator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab_servers.address import host_and_port, listening
from scaar.lab_servers.tgi_failures import Failures
from scaar.lab_servers.tgi_generations import Generations, payload_of
from scaar.lab_servers.tgi_wire import MAX_STOP_SEQUENCES

BODY_BYTES = 2_000_000
VERSION = "3.3.7"
MAX_CONCURRENT_REQUESTS = 128
_OPEN_PATHS = ("/info", "/health", "/metrics")


class TgiServer:
    """A server at ``url``."""

    def __init__(
        self,
        url: str,
        model: ModelDescription,
        generations: Generations,
        failures: Failures,
        *,
        max_concurrent_requests: int,
        max_total_tokens: int,
        api_key: str | None,
    ) -> None:
        self._model = model
        self._max_concurrent = max_concurrent_requests
        self._max_total = max_total_tokens
        self._api_key = api_key
        self.url = url
        self.generations = generations
        self.failures = failures

    def app(self) -> web.Application:
        """Return the web application."""
        app = web.Application(client_max_size=BODY_BYTES, middlewares=[self._authorised()])
        app.router.add_post("/", self._compatible)
        app.router.add_post("/generate", self._generate)
        app.router.add_post("/generate_stream", self._generate_stream)
        app.router.add_post("/tokenize", self._tokenize)
        app.router.add_get("/info", self._info)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metrics", self._metrics)
        return app

    def _authorised(self) -> Middleware:
        expected = f"Bearer {self._api_key}".encode()

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            given = request.headers.get("Authorization", "").encode()
            closed = self._api_key is not None and request.path not in _OPEN_PATHS
            if closed and not hmac.compare_digest(given, expected):
                return web.Response(status=401)
            return await handler(request)

        return check

    async def _compatible(self, request: web.Request) -> web.StreamResponse:
        payload = await payload_of(request)
        if isinstance(payload, dict) and payload.get("stream"):
            return await self.generations.streamed(request, payload)
        return await self.generations.whole(payload, listed=True)

    async def _generate(self, request: web.Request) -> web.StreamResponse:
        return await self.generations.whole(await payload_of(request), listed=False)

    async def _generate_stream(self, request: web.Request) -> web.StreamResponse:
        return await self.generations.streamed(request, await payload_of(request))

    async def _tokenize(self, request: web.Request) -> web.StreamResponse:
        return self.generations.tokenized(await payload_of(request))

    async def _info(self, _: web.Request) -> web.StreamResponse:
        changes = self.generations.model_changes
        info = {
            "model_id": self._model.model,
            "model_sha": self._model.revision + (f"-{changes}" if changes else ""),
            "model_pipeline_tag": "text-generation",
            "max_concurrent_requests": self._max_concurrent,
            "max_best_of": 1,
            "max_stop_sequences": MAX_STOP_SEQUENCES,
            "max_input_tokens": self._max_total - 1,
            "max_total_tokens": self._max_total,
            "validation_workers": 1,
            "max_client_batch_size": 4,
            "router": "scaar-lab",
            "version": VERSION,
            "sha": None,
            "docker_label": None,
        }
        return web.json_response(info)

    async def _health(self, _: web.Request) -> web.StreamResponse:
        return web.Response()

    async def _metrics(self, _: web.Request) -> web.StreamResponse:
        counted = {
            "tgi_request_count": ("counter", len(self.generations.accepted)),
            "tgi_request_success": ("counter", self.generations.succeeded),
            "tgi_batch_current_size": ("gauge", self.generations.running),
            "tgi_queue_size": ("gauge", 0),
        }
        lines = [f"# TYPE {name} {kind}\n{name} {n}\n" for name, (kind, n) in counted.items()]
        return web.Response(text="\n".join(lines))


@asynccontextmanager
async def open_tgi_server(
    address: str = "127.0.0.1:0",
    *,
    fail: Sequence[str] = (),
    max_concurrent_requests: int = MAX_CONCURRENT_REQUESTS,
    max_total_tokens: int | None = None,
    api_key: str | None = None,
    keep_alive_s: float = 15.0,
    slow_s: float = 1.0,
    pace_s: float = 0.0,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[TgiServer]:
    """Open the server over the lab's language model. Port 0 selects a free port.

    ``slow_s`` is the delay of every token of a slow generation, ``pace_s`` the minimum time
    between tokens, ``keep_alive_s`` the time without an event after which a comment is sent.

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
            PacedGenerator(engine, pace_s),
            tokenizer,
            failures,
            limit=max_concurrent_requests,
            max_total_tokens=context,
            keep_alive_s=keep_alive_s,
            slow_s=slow_s,
        )
        server = TgiServer(
            "",
            model,
            generations,
            failures,
            max_concurrent_requests=max_concurrent_requests,
            max_total_tokens=context,
            api_key=api_key,
        )
        async with listening(server.app(), host, port, tls=tls) as server.url:
            yield server
