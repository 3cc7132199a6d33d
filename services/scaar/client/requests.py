"""Requests built from the arguments of a client's methods."""

import enum
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.policies.settings import SETTINGS
from scaar.core.types import (
    AnswerForm,
    AnswerRequest,
    BudgetLimits,
    Filter,
    Message,
    MessageRole,
    OnFailure,
    PolicyRequest,
    Rewrite,
    SearchRequest,
)
from scaar.core.value_types import wrong_types

INDEX = AnswerRequest("").index
BUDGET = BudgetLimits()
TOP_K = SearchRequest("").top_k
Messages = Sequence[Message | Mapping[str, str]]
"""Messages of a conversation, as :class:`Message` or with the keys ``role`` and ``content``."""
Filters = Mapping[str, str | Sequence[str]]
"""The accepted values of each field of a passage."""
NO_FILTERS: Filters = types.MappingProxyType({})
_Choice = TypeVar("_Choice", bound=enum.StrEnum)
_METADATA_KEY = re.compile(r"(?!grpc-)[0-9a-z_.-]+")
_METADATA_TEXT = re.compile(r"[ -~]*")


def answer_request(
    question: str,
    *,
    policy: str | PolicyRequest,
    overrides: Mapping[str, float | str],
    allow_mismatch: bool,
    index: str,
    budget: BudgetLimits,
    prompt_profile: str,
    request_id: str,
    on_failure: OnFailure | str,
    filters: Filters,
    messages: Messages,
    rewrite: Rewrite | str,
    logprobs: bool,
    answer: AnswerForm | str,
) -> AnswerRequest:
    """Return the request for an answer.

    Raises:
        InvalidRequest: naming every setting that is unknown or of the wrong type, or a message
            without a known role and a text.
    """
    return AnswerRequest(
        question=question,
        policy=policy_request(policy, overrides, allow_mismatch=allow_mismatch),
        index=index,
        budget=budget,
        prompt_profile=prompt_profile,
        request_id=request_id,
        on_failure=choice(OnFailure, on_failure, "on_failure"),
        filters=filter_choices(filters),
        messages=message_choices(messages),
        rewrite=choice(Rewrite, rewrite, "rewrite"),
        logprobs=logprobs,
        answer=choice(AnswerForm, answer, "answer"),
    )


def message_choices(messages: Messages) -> tuple[Message, ...]:
    """Return the messages of a conversation.

    Raises:
        InvalidRequest: naming the first one without a known role and a text.
    """
    if not isinstance(messages, Iterable) or isinstance(messages, str | Mapping):
        raise InvalidRequest.of("messages", f"must be a list of messages, not {messages!r:.80}")
    return tuple(message_of(each, number) for number, each in enumerate(messages))


def message_of(given: Message | Mapping[str, str], number: int) -> Message:
    """Return a message of a conversation, ``number`` from 0.

    Raises:
        InvalidRequest: it has other keys than ``role`` and ``content``, an unknown role, or no
            text.
    """
    if isinstance(given, Message):
        given = {"role": given.role, "content": given.content}
    field = f"messages[{number}]"
    if not isinstance(given, Mapping) or set(given) != {"role", "content"}:
        raise InvalidRequest.of(field, "must have the keys role and content, and no others")
    if not isinstance(given["content"], str):
        raise InvalidRequest.of(f"{field}.content", "must be text")
    return Message(choice(MessageRole, given["role"], f"{field}.role"), given["content"])


def policy_request(
    policy: str | PolicyRequest,
    settings: Mapping[str, float | str],
    *,
    allow_mismatch: bool = False,
) -> PolicyRequest:
    """Return the policy, with the settings as its overrides.

    ``allow_mismatch`` also allows it for a :class:`PolicyRequest` that does not.

    Raises:
        InvalidRequest: naming every setting that is unknown or of the wrong type.
    """
    requested = PolicyRequest(policy) if isinstance(policy, str) else policy
    if wrong := list(wrong_types(requested, PolicyRequest, "policy")):
        raise InvalidRequest(wrong)
    if allow_mismatch:
        requested = replace(requested, allow_mismatch=allow_mismatch)
    values: dict[str, Any] = {}
    for name, value in settings.items():
        # A name can have an unpaired surrogate, which no message can carry.
        field = f"policy.{name.encode(errors='backslashreplace').decode()}"
        if name not in SETTINGS:
            text = f"is not a setting; known settings: {', '.join(sorted(SETTINGS))}"
            wrong.append(Violation(field, text))
            continue
        try:
            values[name] = setting_value(SETTINGS[name].kind, value)
        except ValueError as error:
            wrong.append(Violation(field, str(error)))
    if wrong:
        raise InvalidRequest(wrong)
    if not values:
        return requested
    return replace(requested, overrides=replace(requested.overrides, **values))


def each_of(given: Any) -> tuple[Any, ...]:
    """Return the values that are given; anything but a collection of values is a single one."""
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    return tuple(given) if several else (given,)


def choice(kind: type[_Choice], value: str, field: str) -> _Choice:
    """Return the member of an enumeration with this value.

    Raises:
        InvalidRequest: there is none; names the ``field`` and the known values.
    """
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(kind)
        raise InvalidRequest.of(field, f"must be one of {known}, not {value!r}") from None


def filter_choices(filters: object) -> tuple[Filter, ...]:
    """Return the filters. A string is a single value."""
    if not isinstance(filters, Mapping):
        text = f"must map fields to their accepted values, not be {filters!r:.80}"
        raise InvalidRequest.of("filters", text)
    return tuple(Filter(field, each_of(values)) for field, values in filters.items())


def setting_value(kind: type, value: float | str) -> float | str:
    """Return the value as the setting's type.

    Raises:
        ValueError: the value is of another type; names the accepted values.
    """
    if issubclass(kind, enum.StrEnum):
        if value in tuple(kind):
            return kind(value)
        raise ValueError(f"must be one of {', '.join(kind)}, not {value!r}")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if type(value) is kind or (kind is float and number):
        return value
    words = {bool: "True or False", int: "a whole number", str: "a name"}.get(kind, "a number")
    raise ValueError(f"must be {words}, not {value!r}")


def sendable_metadata(metadata: Any) -> tuple[tuple[str, str | bytes], ...]:
    """Return the metadata in the form of gRPC.

    Raises:
        InvalidRequest: naming every key whose name or value gRPC does not accept.
    """
    if not isinstance(metadata, Mapping) or not all(isinstance(each, str) for each in metadata):
        raise InvalidRequest.of("metadata", "must map names to values")
    wrong = []
    for key, value in metadata.items():
        binary = key.lower().endswith("-bin")
        if not _METADATA_KEY.fullmatch(key.lower()):
            text = "must have only 0-9 a-z _ - . in its name, and not start with grpc-"
            wrong.append(Violation(f"metadata.{key}", text))
        elif not isinstance(value, bytes if binary else str):
            text = "must be bytes if its name ends in -bin, and text otherwise"
            wrong.append(Violation(f"metadata.{key}", text))
        elif isinstance(value, str) and not _METADATA_TEXT.fullmatch(value):
            wrong.append(Violation(f"metadata.{key}", "must be printable ASCII"))
    if wrong:
        raise InvalidRequest(wrong)
    return tuple((key.lower(), value) for key, value in metadata.items())
