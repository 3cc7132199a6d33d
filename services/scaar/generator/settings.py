"""The generator's settings, from ``SCAAR_GENERATOR_*``."""

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_core import PydanticCustomError

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.prompts import profile_of
from scaar.generator.recommended import recommended_of
from scaar.runtime.config_file import ConfigFile
from scaar.runtime.settings import ServiceSettings, settings_of

SERVERS = ("tgi", "openai")
"""The engines that are a server's clients."""
_OF_TRANSFORMERS = ("device", "dtype", "attention", "chat_template")
_OF_OPENAI = ("openai_api", "dialect", "logprob_kind", "max_total_tokens")
_OF_TLS = ("ca_file", "client_cert_file", "client_key_file")
_OF_SERVERS = ("url", "api_key", "api_key_file", *_OF_TLS, "prompt_profile", "chat_template_file")
"""Settings that mean nothing to an engine in this process."""


def _text(value: object) -> object:
    """A path as its text; anything else as it is."""
    return str(value) if isinstance(value, PurePath) else value


def _base_url(url: str | None) -> str | None:
    """Passes the base of a server's addresses. What is wrong is told without it: it may hold a key.

    Raises:
        PydanticCustomError: it is none.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise PydanticCustomError("url", "must be http://host:port or https://host:port")
    if parts.username is not None or parts.query or parts.fragment:
        raise PydanticCustomError("url", "must hold no user, query or fragment; see api_key")
    return url.rstrip("/")


def _profile(name: str) -> str:
    """Passes the name of a prompt profile.

    Raises:
        PydanticCustomError: there is none of that name.
    """
    try:
        profile_of(name)
    except InvalidRequest as error:
        text = error.violations[0].description
        raise PydanticCustomError("prompt_profile", "{text}", {"text": text}) from error
    return name


_Recommended = Mapping[str, Mapping[str, Annotated[float, Field(strict=True)]]]


def _recommended(policies: _Recommended | None) -> _Recommended | None:
    """Passes settings that a model may carry.

    Raises:
        PydanticCustomError: naming each that is none, or out of its range.
    """
    try:
        recommended_of(policies or {})
    except InvalidRequest as error:
        raise PydanticCustomError("recommended", "{text}", {"text": error.message}) from error
    return policies


class GeneratorSettings(ServiceSettings):
    """Which engine runs which model, and how much of the machine it may take."""

    model_config = settings_of("generator")

    engine: Literal["onnx", "tgi", "openai", "transformers"] = "onnx"
    """``onnx``: a decoder exported with its key-value cache, in ONNX Runtime on the CPU. ``tgi``: a
    server of Hugging Face's text-generation-inference at ``url``. ``openai``: a server of OpenAI's
    interface at ``url``: vLLM, SGLang, llama.cpp's, OpenAI itself. ``transformers``: any causal
    checkpoint, white box, in PyTorch."""

    model: Annotated[str | None, BeforeValidator(_text)] = None
    """The model: for ``onnx`` its checkpoint folder, or the name of a lab model; for
    ``transformers`` a folder or a hub's name; for a server its name there, which then must be the
    one that it serves."""

    url: Annotated[str | None, AfterValidator(_base_url)] = None
    """The base URL of the server, ``http://host:port``; for engines that are servers, which need
    it. ``openai`` takes one with a path as it is, and adds ``/v1`` to one without."""

    api_key: SecretStr | None = None
    """The key that the server wants as a bearer token. It is never logged or shown."""

    api_key_file: Path | None = None
    """A file that holds the key, read again when it changes; in place of ``api_key``."""

    ca_file: Path | None = None
    """The certificates, in PEM, that those of a server at ``https`` must be signed by. Unset: the
    system's."""

    client_cert_file: Path | None = None
    """The certificate, in PEM, by which a server at ``https`` knows this client, where it asks for
    one; ``client_key_file`` is its key."""

    client_key_file: Path | None = None
    """The key of that certificate, in PEM and not encrypted."""

    prompt_profile: Annotated[str, AfterValidator(_profile)] = "scaar"
    """The prompt profile that suits the model of a server, or of ``transformers``; a model folder
    with a ``scaar.json`` names its own."""

    recommended: Annotated[_Recommended | None, AfterValidator(_recommended)] = None
    """Settings found to suit the model, by policy: ``{"scaar": {"theta": 0.7, "alpha": 60}}``, of
    ``theta``, ``alpha`` and ``top_k``. They go over those that a model folder carries, and a
    request over both."""

    openai_api: Literal["completions", "chat"] = "completions"
    """How an ``openai`` server is asked: to complete a text, or to answer as a chat model, for
    models that only do that."""

    dialect: Literal["auto", "openai", "vllm", "sglang", "llama_cpp"] = "auto"
    """Which kind of ``openai`` server it is; ``auto`` goes by what the server says of its models,
    and takes one that says nothing for ``openai``."""

    logprob_kind: Literal["auto", "raw", "processed", "unknown"] = "auto"
    """Whether an ``openai`` server's log-probabilities are the model's own (``raw``) or after a
    change; ``auto`` is what its kind gives unless it was started otherwise."""

    max_total_tokens: int | None = Field(default=None, ge=1, le=100_000_000)
    """The context of an ``openai`` server's model, in tokens. Unset it is what the server says,
    and 4096 where it says nothing; the server itself refuses what is too long."""

    device: str = "auto"
    """Where ``transformers`` computes: ``cpu``, ``cuda``, ``cuda:1``; ``auto`` takes a GPU where
    there is one."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """The numbers that ``transformers`` computes with; ``auto`` those of the checkpoint."""

    attention: bool = True
    """Whether ``transformers`` gives the last layer's attention, for the policies that go by it;
    without, it computes attention by a faster way."""

    chat_template: bool = False
    """Whether ``transformers`` puts a prompt into the model's chat template as a user's turn, and
    goes on with the beginning of the model's own: for chat and instruct models."""

    chat_template_file: Path | None = None
    """For a chat model that a server only completes texts with (``tgi``, ``openai`` by
    completions): its chat template, as a ``chat_template.jinja``, a ``tokenizer_config.json`` or a
    folder with them. A prompt stands in it as a user's turn, and what was written so far as the
    beginning of the model's own."""

    connect_timeout_s: float = Field(default=5.0, gt=0, le=3600, allow_inf_nan=False)
    """The longest that connecting to the server may take, in seconds."""

    read_timeout_s: float = Field(default=30.0, gt=0, le=3600, allow_inf_nan=False)
    """The longest silence of a server, in seconds: up to the first token, and from each to the
    next. A call never outlives its answer."""

    threads: int = Field(default=1, ge=1, le=256)
    """Threads for the arithmetic of one step. A small model is fastest with 1, a large one with
    as many as there are cores."""

    workers: int = Field(default=2, ge=1, le=256)
    """Steps of different generations that are computed at the same time. ``transformers`` computes
    one at a time, since its models cannot be shared; there ``threads`` decides its speed."""

    max_concurrent: int = Field(default=32, ge=1, le=10_000)
    """Generations under way at a time, and as many texts whose attention is asked for; one more is
    refused as overload. It is kept below what a server says that it takes."""

    prefix_cache_mb: int = Field(default=64, ge=0, le=1_000_000)
    """Megabytes for what was read before, so that a text that begins like an earlier one is read
    from where they differ; 0 reads every text whole. What is written is the same either way."""

    pace_ms: float = Field(default=0.0, ge=0, le=60_000, allow_inf_nan=False)
    """The least time from one token of a generation to the next, in milliseconds, to stand for the
    speed of a larger model; 0 is as fast as the engine can."""

    @classmethod
    def read(cls, config: ConfigFile | None = None, **flags: object) -> Self:
        """The settings of flags, environment and file; see :meth:`ServiceSettings.read`.

        Raises:
            InvalidRequest: naming each that is wrong by itself, else those that do not go together.
        """
        settings = super().read(config, **flags)
        check_together(settings)
        return settings


def check_together(settings: GeneratorSettings) -> None:
    """Passes settings that make sense together.

    Raises:
        InvalidRequest: naming each that is missing for the engine, or means nothing to it.
    """
    engine, given = settings.engine, settings.model_fields_set
    wrong = []
    if engine in SERVERS:
        if settings.url is None:
            wrong.append(_violation("url", f"must be set for engine {engine}"))
        if settings.api_key is not None and settings.api_key_file is not None:
            wrong.append(_violation("api_key_file", "must not be set beside api_key"))
        if not (settings.url or "https:").startswith("https:"):
            told = "is for a server at https://, and url is http://"
            wrong += [_violation(name, told) for name in _OF_TLS if getattr(settings, name)]
        if settings.chat_template_file is not None and settings.openai_api == "chat":
            told = "must not be set with openai_api chat: the server has a template itself"
            wrong.append(_violation("chat_template_file", told))
    else:
        told = f"is for servers ({', '.join(SERVERS)}) only, and the engine is {engine}"
        theirs = set(_OF_SERVERS) - ({"prompt_profile"} if engine == "transformers" else set())
        wrong += [_violation(name, told) for name in _OF_SERVERS if name in theirs & given]
    if engine != "transformers":
        told = f"is for transformers only, and the engine is {engine}"
        wrong += [_violation(name, told) for name in _OF_TRANSFORMERS if name in given]
    if engine != "openai":
        told = f"is for openai only, and the engine is {engine}"
        wrong += [_violation(name, told) for name in _OF_OPENAI if name in given]
    if wrong:
        raise InvalidRequest(wrong)


def _violation(field: str, description: str) -> Violation:
    return Violation(f"SCAAR_GENERATOR_{field.upper()}", description)
