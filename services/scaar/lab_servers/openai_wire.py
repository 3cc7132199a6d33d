"""Requests of the OpenAI API, and errors in each dialect."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaar.core.types import ContinuationKind
from scaar.generator.engines.openai_server.dialects import Dialect, DialectName
from scaar.lab_servers.json_types import NUMBER, is_utf8, wrong_type

Json = dict[str, Any]

_DEFAULT_TOKENS = 16
_DEFAULT_CHAT_TOKENS = 256
_KNOWN = frozenset(
    "model prompt messages max_tokens max_completion_tokens temperature top_p n stream "
    "stream_options logprobs top_logprobs stop seed user presence_penalty frequency_penalty "
    "echo best_of suffix logit_bias store metadata response_format reasoning_effort".split()
)
"""Fields of the OpenAI API. OpenAI rejects other fields; other servers ignore them."""
_TYPES: Mapping[int, str] = {
    400: "BadRequestError",
    401: "AuthenticationError",
    404: "NotFoundError",
    429: "RateLimitError",
    500: "InternalServerError",
}
_OPENAI_TYPES: Mapping[int, str] = {429: "rate_limit_error", 500: "server_error"}


_FIELD_TYPES: Mapping[str, tuple[type, ...]] = {
    "prompt": (str,),
    "messages": (list,),
    "temperature": NUMBER,
    "max_tokens": (int,),
    "max_completion_tokens": (int,),
    "stop": (str, list),
    "seed": (int,),
    "logprobs": (bool, int),
    "top_logprobs": (int,),
    "stream_options": (dict,),
    "chat_template_kwargs": (dict,),
}
_WHOLE: Mapping[DialectName, Mapping[str, float]] = {
    "generic": {"top_p": 1},
    "openai": {"top_p": 1},
    "vllm": {"top_p": 1, "top_k": -1, "min_p": 0},
    "sglang": {"top_p": 1, "top_k": -1, "min_p": 0},
    "llama_cpp": {"top_p": 1, "top_k": 0, "min_p": 0},
}
"""Values with which each server samples from the whole vocabulary."""
REPRODUCED = tuple(_WHOLE)
"""The dialects of the lab's server; a real Ollama is tested in its place."""


class Rejected(Exception):
    """An error with its HTTP status; ``code`` is OpenAI's error code."""

    def __init__(self, status: int, text: str, *, code: str | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.code = code

    def body(self, dialect: DialectName) -> Json:
        """Return the body of the error in a dialect."""
        match dialect:
            case "openai" | "generic":
                kind = _OPENAI_TYPES.get(self.status, "invalid_request_error")
                return {
                    "error": {
                        "message": self.text,
                        "type": kind,
                        "param": None,
                        "code": self.code,
                    }
                }
            case "llama_cpp":
                kind = "invalid_request_error"
                if self.code == "context_length_exceeded":
                    kind = "exceed_context_size_error"
                return {"error": {"code": self.status, "message": self.text, "type": kind}}
            case _:
                kind = _TYPES.get(self.status, "InternalServerError")
                error = {"message": self.text, "type": kind, "param": None, "code": self.status}
                return {"error": error} if dialect == "vllm" else {"object": "error", **error}


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """A parsed request; ``prefix`` is the text that the generation continues.

    ``system`` is the content of a first turn of the system, with which the prompt begins too.
    """

    chat: bool
    system: str
    prompt: str
    prefix: str
    max_tokens: int
    stop: tuple[str, ...]
    logprobs: bool
    top: int
    stream: bool
    usage: bool
    continuous_usage: bool
    restated: bool
    temperature: float
    seed: int | None
    echo: bool
    thinking_off: bool
    fields: frozenset[str]
    """Names of all fields of the request."""


def parse_request(payload: Any, dialect: Dialect, *, model: str, chat: bool) -> GenerationRequest:
    """Parse a request.

    Raises:
        Rejected: a field is invalid, or is not supported by the lab's model.
    """
    if not isinstance(payload, dict):
        raise Rejected(400, "the body must be a JSON object")
    if dialect.name != "llama_cpp" and payload.get("model") != model:
        code = "model_not_found"
        raise Rejected(404, f"The model `{payload.get('model')}` does not exist.", code=code)
    if dialect.name == "openai" and (unknown := payload.keys() - _KNOWN):
        raise Rejected(400, f"Unrecognized request argument supplied: {min(unknown)}")
    if wrong := wrong_type(payload, _FIELD_TYPES):
        raise Rejected(400, wrong)
    if payload.get("n", 1) != 1:
        raise Rejected(400, "the lab's model generates one choice: n must be 1")
    temperature = 1 if payload.get("temperature") is None else payload["temperature"]
    if not 0 <= temperature <= 2:
        raise Rejected(400, f"temperature must be 0 to 2, not {temperature}")
    if temperature and not _samples_from_all(payload, dialect):
        whole = ", ".join(f"{name} {value}" for name, value in _WHOLE[dialect.name].items())
        text = "the lab's model samples from its whole vocabulary"
        raise Rejected(400, f"{text}: set {whole}, or temperature 0")
    system, prompt, prefix, restated = (
        _turns(payload, dialect) if chat else ("", _prompt(payload), "", False)
    )
    if not prompt + prefix:
        raise Rejected(400, "the prompt must not be empty")
    logprobs = payload.get("logprobs")
    top = payload.get("top_logprobs") if chat else logprobs
    if (top or 0) > (20 if chat else dialect.max_top_tokens):
        raise Rejected(400, f"logprobs must be at most {dialect.max_top_tokens}")
    most = payload.get("max_tokens")
    if dialect.name != "generic":
        most = payload.get("max_completion_tokens") or most
    template = payload.get("chat_template_kwargs") or {}
    if most is not None and not (isinstance(most, int) and most >= 1):
        raise Rejected(400, "max_tokens must be at least 1")
    options = payload.get("stream_options") or {}
    default = _DEFAULT_CHAT_TOKENS if chat else _DEFAULT_TOKENS
    stop = payload.get("stop") or ()
    return GenerationRequest(
        chat=chat,
        system=system,
        prompt=prompt,
        prefix=prefix,
        max_tokens=most or default,
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        logprobs=bool(logprobs) if chat else logprobs is not None,
        top=top or 0,
        stream=bool(payload.get("stream")),
        usage=bool(options.get("include_usage")) or not payload.get("stream"),
        continuous_usage=bool(options.get("continuous_usage_stats")),
        restated=restated,
        temperature=temperature,
        seed=payload.get("seed"),
        echo=_echoes(payload, dialect, chat=chat),
        thinking_off=payload.get("reasoning_effort") == "none"
        or template.get("enable_thinking") is False,
        fields=frozenset(payload),
    )


def _samples_from_all(payload: Json, dialect: Dialect) -> bool:
    """Return whether no filter is set; llama.cpp, and some models' own settings, have filters."""
    given = {"top_p": 1, **payload} if dialect.name in ("openai", "generic") else payload
    return all(given.get(name) == value for name, value in _WHOLE[dialect.name].items())


def _echoes(payload: Json, dialect: Dialect, *, chat: bool) -> bool:
    """Return whether the response starts with the prompt.

    OpenAI rejects an echo with log-probabilities for its current models; others ignore it.
    """
    if chat or not payload.get("echo") or dialect.name in ("llama_cpp", "generic"):
        return False
    if dialect.name == "openai" and payload.get("logprobs") is not None:
        text = "Setting 'echo' and 'logprobs' at the same time is not supported for this model."
        raise Rejected(400, text)
    if payload.get("stream"):
        raise Rejected(400, "the lab's server echoes a prompt only without a stream")
    return True


def _prompt(payload: Json) -> str:
    prompt = payload.get("prompt")
    if not isinstance(prompt, str):
        raise Rejected(400, "prompt must be a string")
    return prompt


def _turns(payload: Json, dialect: Dialect) -> tuple[str, str, str, bool]:
    """Return text of the system, prompt and prefix, and whether a turn instructs to continue.

    The lab's model is not a chat model: the texts of the turns are concatenated, that of the system
    with an empty line after it, and a last turn with an instruction to continue is followed, as by
    a chat model.
    """
    turns = payload.get("messages")
    if not isinstance(turns, list) or not turns:
        raise Rejected(400, "messages must not be empty")
    if not all(isinstance(turn, dict) for turn in turns):
        raise Rejected(400, "messages must have objects with role and content")
    roles = [turn.get("role") for turn in turns]
    texts = [turn.get("content") for turn in turns]
    if not all(isinstance(text, str) and is_utf8(text) for text in texts):
        raise Rejected(400, "content must be a string without unpaired surrogates")
    system = texts[0] if roles[0] == "system" else ""
    if system:
        texts[0] = f"{system}\n\n"
    continued = bool(payload.get("continue_final_message"))
    if continued and payload.get("add_generation_prompt", True):
        text = "Cannot set both `continue_final_message` and `add_generation_prompt` to True."
        raise Rejected(400, text)
    if roles[-1] == "assistant":
        native = continued or dialect.name == "llama_cpp"
        if not native or dialect.chat is not ContinuationKind.NATIVE:
            raise Rejected(
                400, "the last message must not be the assistant's unless it is continued"
            )
        return system, "".join(texts[:-1]), texts[-1], False
    if len(roles) > 1 and roles[-2] == "assistant":
        return system, "".join(texts[:-2]), texts[-2], True
    return system, "".join(texts), "", False


def too_long(dialect: DialectName, limit: int, read: int, output: int) -> Rejected:
    """Return the error of a request that exceeds the context."""
    match dialect:
        case "openai" | "generic" | "ollama":
            text = (
                f"This model's maximum context length is {limit} tokens. However, you requested "
                f"{read + output} tokens ({read} in the messages, {output} in the completion)."
            )
        case "vllm":
            text = (
                f"'max_tokens' or 'max_completion_tokens' is too large: {output}. This model's "
                f"maximum context length is {limit} tokens and your request has {read} input "
                f"tokens ({output} > {limit} - {read})."
            )
        case "sglang":
            text = (
                f"Requested token count exceeds the model's maximum context length of {limit} "
                f"tokens. You requested a total of {read + output} tokens: {read} tokens from the "
                f"input messages and {output} tokens for the completion."
            )
        case "llama_cpp":
            text = (
                f"request ({read} tokens) exceeds the available context size ({limit} tokens), "
                "try increasing it"
            )
    return Rejected(400, text, code="context_length_exceeded")
