"""TGI's JSON: what a generation is asked for, and what it is told with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scaar.core.types import Token, TopToken

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
"""The kinds of errors, and the HTTP status of each where nothing is streamed."""

Json = dict[str, Any]


class Refused(Exception):
    """An error as TGI tells it."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind
        self.body: Json = {"error": text, "error_type": kind}


@dataclass(frozen=True, slots=True)
class Asked:
    """A generation that is asked for."""

    inputs: str
    max_new_tokens: int
    stop: tuple[str, ...]
    top_n_tokens: int
    details: bool
    full_text: bool
    stream: bool


def read_asked(payload: Any) -> Asked:
    """What a request asks for.

    Raises:
        Refused: naming what is out of TGI's ranges, or what the lab's greedy model cannot do.
    """
    if not isinstance(payload, dict) or not isinstance(payload.get("inputs"), str):
        raise Refused("validation", "Input validation error: missing field `inputs`")
    given = payload.get("parameters") or {}
    for name in ("temperature", "top_k", "top_p", "typical_p", "repetition_penalty", "grammar"):
        if given.get(name) is not None:
            raise _invalid(f"`{name}` is not served: the lab's model decodes greedily")
    if given.get("do_sample") or (given.get("best_of") or 1) != 1 or given.get("truncate"):
        raise _invalid("the lab's model decodes the whole input greedily, once")
    new_tokens = given.get("max_new_tokens")
    asked = Asked(
        inputs=payload["inputs"],
        max_new_tokens=DEFAULT_NEW_TOKENS if new_tokens is None else int(new_tokens),
        stop=tuple(given.get("stop") or ()),
        top_n_tokens=given.get("top_n_tokens") or 0,
        details=bool(given.get("details")),
        full_text=bool(given.get("return_full_text")),
        stream=bool(payload.get("stream")),
    )
    if not asked.inputs:
        raise _invalid("`inputs` cannot be empty")
    if asked.max_new_tokens < 1:
        raise _invalid("`max_new_tokens` must be strictly positive")
    if len(asked.stop) > MAX_STOP_SEQUENCES:
        limit = f"`stop` supports up to {MAX_STOP_SEQUENCES} stop sequences"
        raise _invalid(f"{limit}. Given: {len(asked.stop)}")
    if not 0 <= asked.top_n_tokens <= MAX_TOP_N_TOKENS:
        limit = f"`top_n_tokens` must be >= 0 and <= {MAX_TOP_N_TOKENS}"
        raise _invalid(f"{limit}. Given: {asked.top_n_tokens}")
    return asked


def check_length(asked: Asked, tokens: int, max_input: int, max_total: int) -> None:
    """Passes what the model's context can hold.

    Raises:
        Refused: with TGI's own words.
    """
    if tokens + asked.max_new_tokens > max_total:
        given = f"{tokens} `inputs` tokens and {asked.max_new_tokens} `max_new_tokens`"
        raise _invalid(f"`inputs` tokens + `max_new_tokens` must be <= {max_total}. Given: {given}")
    if tokens > max_input:
        raise _invalid(f"`inputs` must have less than {max_input} tokens. Given: {tokens}")


def token_json(token: Token, *, special: bool = False, logprob: bool = True) -> Json:
    """A token as an event has it."""
    told = token.logprob if logprob else None
    return {"id": token.id, "text": token.text, "logprob": told, "special": special}


def top_json(tokens: tuple[TopToken, ...]) -> list[Json]:
    """The likeliest tokens as an event has them."""
    return [
        {"id": each.id, "text": each.text, "logprob": each.logprob, "special": False}
        for each in tokens
    ]


def event_of(payload: Json) -> bytes:
    """A server-sent event with the payload."""
    return b"data:" + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"


def _invalid(text: str) -> Refused:
    return Refused("validation", f"Input validation error: {text}")
