"""Requests and events of TGI's API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scaar.core.types import Token, TopToken
from scaar.lab_servers.json_types import NUMBER, wrong_type

MAX_STOP_SEQUENCES = 4
MAX_TOP_N_TOKENS = 5
DEFAULT_NEW_TOKENS = 100
STATUSES: Mapping[str, int] = MappingProxyType(
    {
        "validation": 422,
        "generation": 424,
        "overloaded": 429,
        "incomplete_generation": 500,
        "healthcheck": 503,
    }
)
"""HTTP status of each ``error_type``, unless the response is streamed."""

_FIELD_TYPES: Mapping[str, tuple[type, ...]] = {
    "temperature": NUMBER,
    "max_new_tokens": (int,),
    "stop": (list,),
    "seed": (int,),
    "top_n_tokens": (int,),
}

Json = dict[str, Any]


class Rejected(Exception):
    """An error of TGI."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind
        self.body: Json = {"error": text, "error_type": kind}


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """A parsed request."""

    inputs: str
    max_new_tokens: int
    stop: tuple[str, ...]
    top_n_tokens: int
    details: bool
    full_text: bool
    stream: bool
    temperature: float
    seed: int | None
    prefill: bool


def parse_request(payload: Any) -> GenerationRequest:
    """Parse a request.

    Raises:
        Rejected: a field is out of TGI's range, or is not supported by the lab's model.
    """
    if not isinstance(payload, dict) or not isinstance(payload.get("inputs"), str):
        raise Rejected("validation", "Input validation error: missing field `inputs`")
    given = payload.get("parameters") or {}
    if wrong := (
        wrong_type(payload, {"inputs": (str,), "parameters": (dict,)})
        or wrong_type(given, _FIELD_TYPES)
    ):
        raise _invalid(wrong)
    for name in ("top_k", "top_p", "typical_p", "repetition_penalty", "grammar"):
        if given.get(name) is not None:
            raise _invalid(f"`{name}` is not supported by the lab's model")
    if (given.get("best_of") or 1) != 1 or given.get("truncate"):
        raise _invalid("the lab's model decodes the whole input, once")
    temperature = given.get("temperature")
    if temperature is not None and temperature <= 0:
        raise _invalid("`temperature` must be strictly positive")
    sampled = given.get("do_sample") or temperature is not None
    new_tokens = given.get("max_new_tokens")
    spec = GenerationRequest(
        inputs=payload["inputs"],
        max_new_tokens=DEFAULT_NEW_TOKENS if new_tokens is None else int(new_tokens),
        stop=tuple(given.get("stop") or ()),
        top_n_tokens=given.get("top_n_tokens") or 0,
        details=bool(given.get("details")),
        full_text=bool(given.get("return_full_text")),
        stream=bool(payload.get("stream")),
        temperature=(temperature or 1.0) if sampled else 0.0,
        seed=given.get("seed"),
        prefill=bool(given.get("decoder_input_details")),
    )
    if spec.prefill and spec.stream:
        raise _invalid("`decoder_input_details` == true is not supported when streaming tokens")
    if not spec.inputs:
        raise _invalid("`inputs` cannot be empty")
    if spec.max_new_tokens < 1:
        raise _invalid("`max_new_tokens` must be strictly positive")
    if len(spec.stop) > MAX_STOP_SEQUENCES:
        limit = f"`stop` supports up to {MAX_STOP_SEQUENCES} stop sequences"
        raise _invalid(f"{limit}. Given: {len(spec.stop)}")
    if not 0 <= spec.top_n_tokens <= MAX_TOP_N_TOKENS:
        limit = f"`top_n_tokens` must be >= 0 and <= {MAX_TOP_N_TOKENS}"
        raise _invalid(f"{limit}. Given: {spec.top_n_tokens}")
    return spec


def check_length(spec: GenerationRequest, tokens: int, max_input: int, max_total: int) -> None:
    """Check that a request fits the model's context.

    Raises:
        Rejected: with TGI's message.
    """
    if tokens + spec.max_new_tokens > max_total:
        given = f"{tokens} `inputs` tokens and {spec.max_new_tokens} `max_new_tokens`"
        raise _invalid(f"`inputs` tokens + `max_new_tokens` must be <= {max_total}. Given: {given}")
    if tokens > max_input:
        raise _invalid(f"`inputs` must have less than {max_input} tokens. Given: {tokens}")


def token_json(token: Token, *, special: bool = False, logprob: bool = True) -> Json:
    """Return the JSON of a token."""
    value = token.logprob if logprob else None
    return {"id": token.id, "text": token.text, "logprob": value, "special": special}


def top_json(tokens: tuple[TopToken, ...]) -> list[Json]:
    """Return the JSON of the most likely tokens."""
    return [
        {"id": each.id, "text": each.text, "logprob": each.logprob, "special": False}
        for each in tokens
    ]


def event_of(payload: Json) -> bytes:
    """Return a server-sent event with the payload."""
    return b"data:" + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"


def _invalid(text: str) -> Rejected:
    return Rejected("validation", f"Input validation error: {text}")
