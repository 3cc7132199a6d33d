"""The generator's settings, from ``SCAAR_GENERATOR_*``."""

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_core import PydanticCustomError

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.prompts import profile_of
from scaar.generator.recommended_settings import recommended_of
from scaar.runtime.config_file import ConfigFile
from scaar.runtime.settings import ServiceSettings, settings_of

SERVERS = ("tgi", "openai")
"""Engines that call a model server."""
_OF_TRANSFORMERS = ("device", "dtype", "attention", "chat_template")
_OF_OPENAI = ("dialect", "logprob_kind")
_OF_OPENAI_OR_LLAMA_CPP = (
    "openai_api",
    "max_total_tokens",
    "max_thinking_tokens",
    "prefix_reuse",
)
_OF_LLAMA_CPP = ("slots",)
_OF_TLS = ("ca_file", "client_cert_file", "client_key_file")
_OF_SERVERS = ("url", "api_key", "api_key_file", *_OF_TLS, "prompt_profile", "chat_template_file")
"""Settings that apply to model servers only."""
_OF_OTHERS_TOO = {
    "transformers": frozenset({"prompt_profile"}),
    "llama_cpp": frozenset({"prompt_profile", "chat_template_file"}),
}
"""Settings of model servers that apply to an engine without one."""


def _text(value: object) -> object:
    """Return a path as text, and any other value unchanged."""
    return str(value) if isinstance(value, PurePath) else value


def _base_url(url: str | None) -> str | None:
    """Validate the base URL of a server. Errors do not quote the URL, which may contain a key.

    Raises:
        PydanticCustomError: the URL is invalid.
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
        raise PydanticCustomError("url", "must have no user, query or fragment; see api_key")
    return url.rstrip("/")


def _profile(name: str | None) -> str | None:
    """Validate the name of a prompt profile.

    Raises:
        PydanticCustomError: there is no such profile.
    """
    if name is None:
        return None
    try:
        profile_of(name)
    except InvalidRequest as error:
        text = error.violations[0].description
        raise PydanticCustomError("prompt_profile", "{text}", {"text": text}) from error
    return name


_Recommended = Mapping[str, Mapping[str, Annotated[float, Field(strict=True)]]]


def _recommended(policies: _Recommended | None) -> _Recommended | None:
    """Validate recommended policy settings.

    Raises:
        PydanticCustomError: naming every setting that is unknown or out of range.
    """
    try:
        recommended_of(policies or {})
    except InvalidRequest as error:
        raise PydanticCustomError("recommended", "{text}", {"text": error.message}) from error
    return policies


class GeneratorSettings(ServiceSettings):
    """Which engine runs which model, and how many resources it may use."""

    model_config = settings_of("generator")

    engine: Literal["onnx", "llama_cpp", "tgi", "openai", "transformers"] = "onnx"
    """Engine that runs the model. ``onnx``: a decoder exported with its key-value cache, in ONNX
    Runtime on the CPU. ``llama_cpp``: a GGUF file, in llama.cpp on this machine, as a process that
    the generator starts and supervises. ``tgi``: a Hugging Face text-generation-inference server
    at ``url``. ``openai``: an OpenAI-compatible server at ``url``, such as vLLM, SGLang, the
    llama.cpp server or OpenAI. ``transformers``: any causal checkpoint, in PyTorch, with entropy
    and attention."""

    model: Annotated[str | None, BeforeValidator(_text)] = None
    """Model to run. For ``onnx``: a checkpoint folder or the name of a lab model. For
    ``llama_cpp``: a GGUF file, or the name of a model of ``scaar models``. For
    ``transformers``: a folder or a name on the Hugging Face Hub. For a server: the name of the
    model on the server; if the server does not serve that model, the generator does not start."""

    url: Annotated[str | None, AfterValidator(_base_url)] = None
    """Base URL of the server, ``http://host:port``. Required for ``tgi`` and ``openai``. For
    ``openai``, ``/v1`` is appended to a URL without a path."""

    api_key: SecretStr | None = None
    """API key that is sent to the server as a bearer token. The key is never logged or printed."""

    api_key_file: Path | None = None
    """Path to a file that contains the API key. Use it instead of ``api_key``. The file is reloaded
    when it changes."""

    ca_file: Path | None = None
    """Path to the certificates, in PEM, of the authority that must have signed the certificate of
    an ``https`` server. Default: the authorities that the system trusts."""

    client_cert_file: Path | None = None
    """Path to the client certificate, in PEM, for an ``https`` server that requires one. Requires
    ``client_key_file``."""

    client_key_file: Path | None = None
    """Path to the unencrypted private key of ``client_cert_file``, in PEM."""

    model_kind: Literal["auto", "base", "instruct"] = "auto"
    """What the model was trained for: ``base`` to continue texts, ``instruct`` to follow
    instructions. ``auto`` takes ``instruct`` if a setting names a chat template or the chat API,
    else the kind in the catalogue of models, else ``instruct`` if the model's name contains
    instruct, chat or -it, else ``base``. ``prompt_profile``,
    ``openai_api`` and the chat template follow from it where they are unset."""

    prompt_profile: Annotated[str | None, AfterValidator(_profile)] = None
    """Prompt profile for the model of a server, of ``llama_cpp`` or of ``transformers``. Default:
    the profile that a model folder names in its ``scaar.json``, else ``instruct`` for an instruct
    model in a chat template, else ``scaar``. Evaluations use ``scaar`` instead of ``instruct``."""

    recommended: Annotated[_Recommended | None, AfterValidator(_recommended)] = None
    """Recommended ``theta``, ``alpha`` and ``top_k`` for the model, by policy:
    ``{"scaar": {"theta": 0.7, "alpha": 60}}``. They override the recommendations of the model
    folder, and a request overrides both."""

    openai_api: Literal["auto", "completions", "chat"] = "auto"
    """API of an ``openai`` server, or of ``llama_cpp``, to call. ``auto`` calls ``chat`` for an
    instruct model whose chat template is unknown, else ``completions``."""

    dialect: Literal["auto", "generic", "openai", "vllm", "sglang", "llama_cpp", "ollama"] = "auto"
    """Kind of ``openai`` server. ``auto`` detects the kind from the owner in the server's list of
    models, and uses ``generic`` if the owner is unknown."""

    logprob_kind: Literal["auto", "raw", "processed", "unknown"] = "auto"
    """Whether the log-probabilities of an ``openai`` server are those of the model (``raw``) or
    were transformed (``processed``). ``auto`` uses the default of the ``dialect``. Set it if the
    server was started with another option."""

    max_total_tokens: int | None = Field(default=None, ge=1, le=100_000_000)
    """Context length of an ``openai`` server's model, in tokens. Default: the length that the
    server reports, else 4096. The server rejects longer requests itself. For ``llama_cpp``: the
    context of each slot, by default 8192 or the length of the model if that is less. A shorter one
    needs less memory."""

    slots: int = Field(default=1, ge=1, le=64)
    """Number of answers that ``llama_cpp`` serves concurrently; further ones wait. Each slot has a
    context of its own, which takes memory, and so has one more slot for calls of no answer."""

    prefix_reuse: Literal["answer", "none"] = "answer"
    """What a llama.cpp server reuses of the text that it has read. ``answer``: an answer keeps one
    of the server's slots, and its later calls read only what its earlier ones have not read.
    Nothing is reused between answers, because that would change log-probabilities. ``none``: every
    call reads its whole prompt. Use it with several replicas of the generator, or if other clients
    use the server: the calls of an answer may then meet different slots."""

    max_thinking_tokens: int = Field(default=2048, ge=1, le=1_000_000)
    """Maximum number of tokens that the model of an ``openai`` server or of ``llama_cpp`` may think
    before its answer, in addition to the tokens of the answer. A chat requests that the model does
    not think; the limit applies to models that think all the same. A generation that exceeds it
    fails with FAILED_PRECONDITION. Raise it for models that think for long."""

    device: str = "auto"
    """Device for ``transformers``: ``cpu``, ``cuda`` or ``cuda:1``. ``auto`` uses a GPU if one is
    available."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Number format of the weights for ``transformers``. ``auto`` uses that of the checkpoint."""

    attention: bool = True
    """Enables the attention of the last layer for ``transformers``, which policies such as dragin
    need. Disabling it selects a faster attention implementation."""

    chat_template: bool | None = None
    """Enables the model's chat template for ``transformers``: the prompt becomes the user's turn
    and the prefix the beginning of the model's turn. Default: enabled for an instruct model whose
    tokenizer has a template."""

    chat_template_file: Path | None = None
    """Path to the chat template of a chat model whose server completes texts only (``tgi``, and
    ``openai`` and ``llama_cpp`` with completions): a ``chat_template.jinja``, a
    ``tokenizer_config.json`` or a folder that contains them. The prompt becomes the user's turn and
    the text written so far the beginning of the model's turn. Default, for an instruct
    model: the template in the GGUF file or the one that the llama.cpp server reports; for ``tgi``,
    that of the served model if its files are on this machine."""

    connect_timeout_s: float = Field(default=5.0, gt=0, le=3600, allow_inf_nan=False)
    """Maximum time to connect to the server, in seconds."""

    read_timeout_s: float | None = Field(default=None, gt=0, le=3600, allow_inf_nan=False)
    """Maximum time without data from the server, in seconds, before the first token and between
    tokens. By default it follows the server: no limit while it reports that it reads the prompt
    (llama.cpp); else twice the time that reading should take at the speed of recent calls, at least
    120 s; and 30 s between tokens. The deadline of the call applies too."""

    threads: int | None = Field(default=None, ge=1, le=256)
    """Number of threads that compute one step. A small model is fastest with 1, a large one with
    the number of cores. Default: 1; for ``llama_cpp`` the physical cores that affinity and CPU
    quota allow."""

    workers: int = Field(default=2, ge=1, le=256)
    """Number of steps of different generations that are computed in parallel. ``transformers``
    computes one step at a time, since its models are not thread-safe; raise ``threads`` there."""

    max_batch: int = Field(default=1, ge=1, le=256)
    """Maximum number of generations that one step of ``onnx`` or ``transformers`` continues
    together. A larger batch writes more tokens per second in total, but the log-probabilities of a
    text then differ in the sixth digit with the other texts of its batch. 1 computes each
    generation alone, so that its numbers do not depend on the load. Set it to the expected number
    of concurrent answers, and ``threads`` to the number of cores, where throughput matters more."""

    max_concurrent: int = Field(default=32, ge=1, le=10_000)
    """Maximum number of concurrent generations and, counted separately, of concurrent attention
    requests. Further ones are rejected with RESOURCE_EXHAUSTED and a RetryInfo delay. For ``tgi``
    the limit stays one below the one that the server reports."""

    prefix_cache_mb: int = Field(default=64, ge=0, le=1_000_000)
    """Size of the key-value cache for prompts, in megabytes. A prompt that shares a prefix with an
    earlier one is read from the first different token on. 0 disables the cache. The generated text
    does not depend on the cache."""

    pace_ms: float = Field(default=0.0, ge=0, le=60_000, allow_inf_nan=False)
    """Minimum time between the tokens of a generation, in milliseconds. Use it to simulate the
    speed of a larger model. 0 disables the delay."""

    @classmethod
    def read(cls, config: ConfigFile | None = None, **flags: object) -> Self:
        """Return the settings of flags, environment and file; see :meth:`ServiceSettings.read`.

        Raises:
            InvalidRequest: naming every invalid setting, or the settings that are incompatible.
        """
        settings = super().read(config, **flags)
        check_together(settings)
        return settings


def check_together(settings: GeneratorSettings) -> None:
    """Check that the settings are compatible.

    Raises:
        InvalidRequest: naming every setting that the engine requires or does not support.
    """
    engine, given = settings.engine, settings.model_fields_set
    wrong = []
    if engine in SERVERS:
        if settings.url is None:
            wrong.append(_violation("url", f"must be set for engine {engine}"))
        if settings.api_key is not None and settings.api_key_file is not None:
            wrong.append(_violation("api_key_file", "must not be set together with api_key"))
        if not (settings.url or "https:").startswith("https:"):
            text = "requires an https:// url, but url is http://"
            wrong += [_violation(name, text) for name in _OF_TLS if getattr(settings, name)]
    else:
        text = f"requires engine {' or '.join(SERVERS)}, but the engine is {engine}"
        theirs = set(_OF_SERVERS) - _OF_OTHERS_TOO.get(engine, frozenset())
        wrong += [_violation(name, text) for name in _OF_SERVERS if name in theirs & given]
    both = settings.chat_template_file is not None and settings.openai_api == "chat"
    if both and engine in (*SERVERS, "llama_cpp"):
        text = "must not be set with openai_api chat: the server applies its own template"
        wrong.append(_violation("chat_template_file", text))
    if engine != "transformers":
        text = f"requires engine transformers, but the engine is {engine}"
        wrong += [_violation(name, text) for name in _OF_TRANSFORMERS if name in given]
    if engine != "openai":
        text = f"requires engine openai, but the engine is {engine}"
        wrong += [_violation(name, text) for name in _OF_OPENAI if name in given]
    if engine not in ("openai", "llama_cpp"):
        text = f"requires engine openai or llama_cpp, but the engine is {engine}"
        wrong += [_violation(name, text) for name in _OF_OPENAI_OR_LLAMA_CPP if name in given]
    if engine != "llama_cpp":
        text = f"requires engine llama_cpp, but the engine is {engine}"
        wrong += [_violation(name, text) for name in _OF_LLAMA_CPP if name in given]
    if wrong:
        raise InvalidRequest(wrong)


def _violation(field: str, description: str) -> Violation:
    return Violation(f"SCAAR_GENERATOR_{field.upper()}", description)
