"""How OpenAI-compatible servers differ: what they take beside OpenAI's fields, and what they say.

The interface leaves open how log-probabilities are laid out, whether a chat goes on from its last
turn, and when usage is told. What is written is greedy with each of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from scaar.core.types import ContinuationKind, LogprobKind

DialectName = Literal["openai", "vllm", "sglang", "llama_cpp"]


def _fields(**fields: object) -> Mapping[str, object]:
    return MappingProxyType(fields)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of server.

    ``owner`` is what it says in ``owned_by`` of its models. ``extras`` go with every request: a
    penalty that a server or its model's own settings would apply is taken out, since a draft is
    the model's likeliest text. ``continuing`` go with a chat whose last turn is to be gone on
    from, and whose first chunk may begin with that turn where the server ``echoes``.
    ``usage_as_it_goes`` are the options of a stream that tell usage from its first chunk.
    """

    name: DialectName
    owner: str
    logprob_kind: LogprobKind
    chat: ContinuationKind
    most_top_tokens: int = 20
    max_tokens_of_chat: str = "max_tokens"
    extras: Mapping[str, object] = field(default_factory=_fields)
    continuing: Mapping[str, object] = field(default_factory=_fields)
    usage_as_it_goes: Mapping[str, object] = field(default_factory=_fields)
    echoes: bool = False


OPENAI = Dialect(
    "openai",
    owner="",
    # Not said by the interface's own maker.
    logprob_kind=LogprobKind.UNKNOWN,
    chat=ContinuationKind.RESTATED,
    most_top_tokens=5,
    max_tokens_of_chat="max_completion_tokens",
)
VLLM = Dialect(
    "vllm",
    owner="vllm",
    # Unless served with --logprobs-mode processed_logprobs.
    logprob_kind=LogprobKind.RAW,
    chat=ContinuationKind.NATIVE,
    extras=_fields(repetition_penalty=1.0),
    continuing=_fields(add_generation_prompt=False, continue_final_message=True),
    usage_as_it_goes=_fields(continuous_usage_stats=True),
)
SGLANG = Dialect(
    "sglang",
    owner="sglang",
    logprob_kind=LogprobKind.PROCESSED,
    chat=ContinuationKind.NATIVE,
    extras=_fields(repetition_penalty=1.0),
    continuing=_fields(add_generation_prompt=False, continue_final_message=True),
    usage_as_it_goes=_fields(continuous_usage_stats=True),
)
LLAMA_CPP = Dialect(
    "llama_cpp",
    owner="llamacpp",
    logprob_kind=LogprobKind.RAW,
    # It goes on from a last turn that is the assistant's without being told to; from 2026 on it
    # tells that turn as a part of its answer.
    chat=ContinuationKind.NATIVE,
    echoes=True,
    extras=_fields(repeat_penalty=1.0, cache_prompt=True, timings_per_token=True),
)

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {dialect.name: dialect for dialect in (OPENAI, VLLM, SGLANG, LLAMA_CPP)}
)


def dialect_of(owner: str) -> Dialect:
    """The dialect of a server by the owner that it names; OpenAI's where it is none of these."""
    return next((each for each in DIALECTS.values() if each.owner and each.owner == owner), OPENAI)
