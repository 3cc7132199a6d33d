"""What a generation is asked for in OpenAI's interface, and how each dialect refuses one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaar.core.types import ContinuationKind
from scaar.generator.engines.openai_server.dialects import Dialect, DialectName
from scaar.generator.validation import MAX_NEW_TOKENS

Json = dict[str, Any]

_DEFAULT_TOKENS = 16
_DEFAULT_CHAT_TOKENS = 256
_KNOWN = frozenset(
    "model prompt messages max_tokens max_completion_tokens temperature top_p n stream "
    "stream_options logprobs top_logprobs stop seed user presence_penalty frequency_penalty "
    "echo best_of suffix logit_bias store metadata response_format".split()
)
"""OpenAI's own fields; OpenAI refuses others, and the servers pass over what they do not know."""
_TYPES: Mapping[int, str] = {
    400: "BadRequestError",
    401: "AuthenticationError",
    404: "NotFoundError",
    429: "RateLimitError",
    500: "InternalServerError",
}
_OPENAI_TYPES: Mapping[int, str] = {429: "rate_limit_error", 500: "server_error"}


class Refused(Exception):
    """An error with its HTTP status; ``code`` is what OpenAI calls it."""

    def __init__(self, status: int, text: str, *, code: str | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.code = code

    def body(self, dialect: DialectName) -> Json:
        """The error as the dialect tells it."""
        match dialect:
            case "openai":
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
class Asked:
    """A generation that is asked for; ``prefix`` is what it goes on from, as it understands it."""

    chat: bool
    prompt: str
    prefix: str
    max_tokens: int
    stop: tuple[str, ...]
    logprobs: bool
    top: int
    stream: bool
    usage: bool
    usage_as_it_goes: bool
    restated: bool
    fields: frozenset[str]
    """The names of all that was asked with."""


def read_asked(payload: Any, dialect: Dialect, *, model: str, chat: bool) -> Asked:
    """What a request asks for.

    Raises:
        Refused: naming what is wrong, or what the lab's greedy model cannot do.
    """
    if not isinstance(payload, dict):
        raise Refused(400, "the body must be a JSON object")
    if dialect.name != "llama_cpp" and payload.get("model") != model:
        code = "model_not_found"
        raise Refused(404, f"The model `{payload.get('model')}` does not exist.", code=code)
    if dialect.name == "openai" and (unknown := payload.keys() - _KNOWN):
        raise Refused(400, f"Unrecognized request argument supplied: {min(unknown)}")
    if payload.get("temperature", 1) != 0 or payload.get("n", 1) != 1:
        raise Refused(400, "the lab's model decodes greedily: temperature must be 0, and n 1")
    prompt, prefix, restated = _turns(payload, dialect) if chat else (_prompt(payload), "", False)
    if not prompt + prefix:
        raise Refused(400, "the prompt must not be empty")
    logprobs = payload.get("logprobs")
    top = payload.get("top_logprobs") if chat else logprobs
    if (top or 0) > (20 if chat else dialect.most_top_tokens):
        raise Refused(400, f"logprobs must be at most {dialect.most_top_tokens}")
    most = payload.get("max_completion_tokens") or payload.get("max_tokens")
    if most is not None and not (isinstance(most, int) and 1 <= most <= MAX_NEW_TOKENS):
        raise Refused(400, f"max_tokens must be 1 to {MAX_NEW_TOKENS}")
    options = payload.get("stream_options") or {}
    default = _DEFAULT_CHAT_TOKENS if chat else _DEFAULT_TOKENS
    stop = payload.get("stop") or ()
    return Asked(
        chat=chat,
        prompt=prompt,
        prefix=prefix,
        max_tokens=most or default,
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        logprobs=bool(logprobs) if chat else logprobs is not None,
        top=top or 0,
        stream=bool(payload.get("stream")),
        usage=bool(options.get("include_usage")) or not payload.get("stream"),
        usage_as_it_goes=bool(options.get("continuous_usage_stats")),
        restated=restated,
        fields=frozenset(payload),
    )


def _prompt(payload: Json) -> str:
    prompt = payload.get("prompt")
    if not isinstance(prompt, str):
        raise Refused(400, "prompt must be a string")
    return prompt


def _turns(payload: Json, dialect: Dialect) -> tuple[str, str, bool]:
    """Prompt and prefix of a chat, and whether the model was asked in words to go on.

    The lab's model was trained on no chats: the turns' texts are read one after another, and a
    last turn that asks to go on is obeyed, as a chat model would that was trained to.
    """
    turns = payload.get("messages")
    if not isinstance(turns, list) or not turns:
        raise Refused(400, "messages must not be empty")
    roles = [turn.get("role") for turn in turns]
    texts = [turn.get("content") for turn in turns]
    if not all(isinstance(text, str) for text in texts):
        raise Refused(400, "content must be a string")
    going_on = bool(payload.get("continue_final_message"))
    if going_on and payload.get("add_generation_prompt", True):
        told = "Cannot set both `continue_final_message` and `add_generation_prompt` to True."
        raise Refused(400, told)
    if roles[-1] == "assistant":
        native = going_on or dialect.name == "llama_cpp"
        if not native or dialect.chat is not ContinuationKind.NATIVE:
            raise Refused(400, "the last message is the assistant's, and is not to be gone on from")
        return "".join(texts[:-1]), texts[-1], False
    if len(roles) > 1 and roles[-2] == "assistant":
        return "".join(texts[:-2]), texts[-2], True
    return "".join(texts), "", False


def too_long(dialect: DialectName, limit: int, read: int, wanted: int) -> Refused:
    """The refusal of what the context does not hold."""
    match dialect:
        case "openai":
            told = (
                f"This model's maximum context length is {limit} tokens. However, you requested "
                f"{read + wanted} tokens ({read} in the messages, {wanted} in the completion)."
            )
        case "vllm":
            told = (
                f"'max_tokens' or 'max_completion_tokens' is too large: {wanted}. This model's "
                f"maximum context length is {limit} tokens and your request has {read} input "
                f"tokens ({wanted} > {limit} - {read})."
            )
        case "sglang":
            told = (
                f"Requested token count exceeds the model's maximum context length of {limit} "
                f"tokens. You requested a total of {read + wanted} tokens: {read} tokens from the "
                f"input messages and {wanted} tokens for the completion."
            )
        case "llama_cpp":
            told = (
                f"request ({read} tokens) exceeds the available context size ({limit} tokens), "
                "try increasing it"
            )
    return Refused(400, told, code="context_length_exceeded")
