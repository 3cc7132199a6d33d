"""Differences between OpenAI-compatible servers: additional request fields and responses.

The API does not define the layout of log-probabilities, whether a chat continues its last turn, or
when usage is reported.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from scaar.core.types import ContinuationKind, LogprobKind

DialectName = Literal["generic", "openai", "vllm", "sglang", "llama_cpp", "ollama"]


def _fields(**fields: object) -> Mapping[str, object]:
    return MappingProxyType(fields)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A kind of server.

    ``owners`` are the ``owned_by`` of its models. ``extras`` are added to every request; they
    disable penalties that the server or the model's settings would apply, since a draft is the
    model's most likely text. ``continuing`` is added to a chat whose last turn is to be continued;
    if the server ``echoes``, its first chunk may start with that turn. ``continuous_usage`` are
    stream options that report usage from the first chunk on. ``thinking_off`` is added to a chat,
    so that the model does not think before it answers. ``sampling`` is added to a request with a
    temperature, so that tokens are drawn from the whole vocabulary. If the server is ``seeded``,
    the same seed gives the same tokens. ``reads_logprobs`` if a completion that echoes its prompt
    has the prompt's log-probabilities, ``reports_template`` if ``/props`` has the chat template of
    the model. ``slots`` if a request can name the slot that reads it, and whether that slot's keys
    and values are reused.
    """

    name: DialectName
    owners: frozenset[str]
    logprob_kind: LogprobKind
    chat: ContinuationKind
    max_top_tokens: int = 20
    max_tokens_of_chat: str = "max_tokens"
    extras: Mapping[str, object] = field(default_factory=_fields)
    continuing: Mapping[str, object] = field(default_factory=_fields)
    continuous_usage: Mapping[str, object] = field(default_factory=_fields)
    thinking_off: Mapping[str, object] = field(default_factory=_fields)
    echoes: bool = False
    sampling: Mapping[str, object] = field(default_factory=_fields)
    seeded: bool = False
    reads_logprobs: bool = False
    reports_template: bool = False
    slots: bool = False


# Templates ignore the names that they do not know.
_TEMPLATE_OFF = _fields(chat_template_kwargs={"enable_thinking": False, "thinking": False})

GENERIC = Dialect(
    "generic",
    owners=frozenset(),
    logprob_kind=LogprobKind.UNKNOWN,
    chat=ContinuationKind.RESTATED,
    max_top_tokens=5,
    thinking_off=_fields(reasoning_effort="none"),
)
"""Servers that name no known owner: only fields of the API, and those that all servers know."""
# It takes its strategy from the model's files, and from this field in place of them.
_ALL_TOKENS = json.dumps({"do_sample": True, "top_k": 0, "top_p": 1.0, "min_p": 0.0})
TRANSFORMERS_SERVE = replace(GENERIC, sampling=_fields(generation_config=_ALL_TOKENS))
"""The generic dialect for transformers serve, whose models have no owner that names it."""
OPENAI = Dialect(
    "openai",
    owners=frozenset({"openai", "openai-internal", "system"}),
    # OpenAI does not document it.
    logprob_kind=LogprobKind.UNKNOWN,
    chat=ContinuationKind.RESTATED,
    max_top_tokens=5,
    max_tokens_of_chat="max_completion_tokens",
    thinking_off=_fields(reasoning_effort="none"),
)
VLLM = Dialect(
    "vllm",
    owners=frozenset({"vllm"}),
    # Unless the server was started with --logprobs-mode processed_logprobs.
    logprob_kind=LogprobKind.RAW,
    chat=ContinuationKind.NATIVE,
    extras=_fields(repetition_penalty=1.0),
    continuing=_fields(add_generation_prompt=False, continue_final_message=True),
    continuous_usage=_fields(continuous_usage_stats=True),
    thinking_off=_TEMPLATE_OFF,
    # The model's own settings may set others.
    sampling=_fields(top_p=1.0, top_k=-1, min_p=0.0),
    seeded=True,
    reads_logprobs=True,
)
SGLANG = Dialect(
    "sglang",
    owners=frozenset({"sglang"}),
    logprob_kind=LogprobKind.PROCESSED,
    chat=ContinuationKind.NATIVE,
    extras=_fields(repetition_penalty=1.0),
    continuing=_fields(add_generation_prompt=False, continue_final_message=True),
    continuous_usage=_fields(continuous_usage_stats=True),
    thinking_off=_TEMPLATE_OFF,
    # It uses a seed only if it was started for deterministic inference.
    sampling=_fields(top_p=1.0, top_k=-1, min_p=0.0),
    reads_logprobs=True,
)
LLAMA_CPP = Dialect(
    "llama_cpp",
    owners=frozenset({"llamacpp"}),
    logprob_kind=LogprobKind.RAW,
    # It continues a last turn of the assistant by default; since 2026 it repeats that turn in its
    # answer.
    chat=ContinuationKind.NATIVE,
    echoes=True,
    thinking_off=_TEMPLATE_OFF,
    extras=_fields(repeat_penalty=1.0, timings_per_token=True, return_progress=True),
    # It would sample from the 40 likeliest tokens.
    sampling=_fields(top_p=1.0, top_k=0, min_p=0.0),
    seeded=True,
    reports_template=True,
    slots=True,
)
OLLAMA = Dialect(
    "ollama",
    # The namespace of a model, which is another one for models of a user.
    owners=frozenset({"library"}),
    logprob_kind=LogprobKind.RAW,
    # Templates leave the last turn of the assistant open. The API takes neither a penalty of
    # repetitions nor a number of most likely tokens to sample from: the model's file sets them.
    chat=ContinuationKind.NATIVE,
    thinking_off=_fields(reasoning_effort="none"),
    sampling=_fields(top_p=1.0),
    seeded=True,
)

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {dialect.name: dialect for dialect in (GENERIC, OPENAI, VLLM, SGLANG, LLAMA_CPP, OLLAMA)}
)


def dialect_of(owner: str, *, reports_loading: bool = False) -> Dialect:
    """Return the dialect of the owner of a server's models; the generic one for any other owner.

    ``reports_loading`` if the list says which models are loaded, as transformers serve's does.
    """
    other = TRANSFORMERS_SERVE if reports_loading else GENERIC
    return next((each for each in DIALECTS.values() if owner in each.owners), other)
