"""Conversations as clients send them: the texts that are read, and the names of the rest.

A chat that began with another model has its tool calls, results, thoughts and images. Its texts are
read, and what else it has is named, so that the chat continues.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
)

from scaar.core.errors import InvalidRequest

MAX_INPUT = 1_048_576
MAX_ITEMS = 4096
Role = Literal["system", "user", "assistant"]

_ROLES: Mapping[str, Role] = MappingProxyType(
    {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
)
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TEXTS = ("text", "input_text", "output_text")
_QUIET = frozenset(
    {"annotations", "content", "id", "name", "phase", "refusal", "role", "status", "type"}
)
"""Fields of messages that say nothing beyond the text."""


class ContentPart(BaseModel):
    """A part of a message. Parts of other types than text are not read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str
    text: str | None = None
    refusal: str | None = None

    @property
    def read(self) -> str | None:
        """The text of the part; None if it is no text."""
        if self.type in _TEXTS:
            return self.text
        return self.refusal if self.type == "refusal" else None

    @field_validator("text", "refusal", mode="before")
    @classmethod
    def _only_of_texts(cls, given: object, info: ValidationInfo) -> object:
        """Leave the fields of other parts unread, whatever they are."""
        kind = info.data.get("type")
        return given if kind == info.field_name or kind in _TEXTS else None


def _form(content: object) -> str:
    return "parts" if isinstance(content, list) else "text"


MessageContent = Annotated[
    Annotated[str | None, Tag("text")] | Annotated[list[ContentPart], Tag("parts")],
    Discriminator(_form),
]
"""The content of a message: a text, or parts."""


class ConversationMessage(BaseModel):
    """A message of a conversation; other fields than these are not read."""

    model_config = ConfigDict(extra="allow", frozen=True)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: MessageContent = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        """The texts of the message, joined by line breaks; a refusal if there are none."""
        if isinstance(self.content, str):
            return self.content or self.refusal or ""
        texts = [each.read for each in self.content or ()]
        return "\n".join(each for each in texts if each) or self.refusal or ""

    @property
    def unread_parts(self) -> list[str]:
        """The types of the parts that are no text."""
        parts = self.content if isinstance(self.content, list) else []
        return [each.type for each in parts if each.read is None]

    @property
    def unread_fields(self) -> list[str]:
        """The names of other fields, if they have a value."""
        others = (self.model_extra or {}).items()
        return [name for name, value in others if name not in _QUIET and value]


class OtherItem(BaseModel):
    """An item of a conversation that is no message, such as a call of a tool."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str


def _kind(item: object) -> str:
    kind = item.get("type", "message") if isinstance(item, dict) else "message"
    return "message" if kind == "message" else "other"


Item = Annotated[
    Annotated[ConversationMessage, Tag("message")] | Annotated[OtherItem, Tag("other")],
    Discriminator(_kind),
]
Input = Annotated[
    Annotated[str, Tag("text"), Field(max_length=MAX_INPUT)]
    | Annotated[list[Item], Tag("parts"), Field(max_length=MAX_ITEMS)],
    Discriminator(_form),
]
"""A conversation in the form of responses: the user's question, or items."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The role and the text of a message."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """The texts of a conversation, without empty ones, and the names of what was not read."""

    turns: tuple[Turn, ...]
    ignored: tuple[str, ...] = ()


def conversation_of(
    items: Sequence[ConversationMessage | OtherItem], field: str, *, system: str = ""
) -> Conversation:
    """Return the texts of the items, which are the field of this name, after text of the system.

    Raises:
        InvalidRequest: the last text is not the user's, or its message has other parts than text.
    """
    _check_question(items, field)
    turns = [Turn("system", system)] if system else []
    ignored: set[str] = set()
    for item in items:
        if isinstance(item, OtherItem):
            ignored.add(f"{field}.{_named(item.type)}")
        elif item.role not in _ROLES:
            ignored.add(f"{field}.{item.role}")
        else:
            ignored |= {f"{field}.{_named(name)}" for name in item.unread_fields}
            ignored |= {f"{field}.content.{_named(kind)}" for kind in item.unread_parts}
            if item.text.strip():
                turns.append(Turn(_ROLES[item.role], item.text))
    return Conversation(tuple(turns), tuple(sorted(ignored)))


def _named(text: str) -> str:
    """Return a name from a client, unless it is not fit to be shown."""
    return text if _NAME.fullmatch(text) else "other"


def _check_question(items: Sequence[ConversationMessage | OtherItem], field: str) -> None:
    """Raise InvalidRequest unless the last message is the user's, and has text alone.

    Results of tools and messages of the assistant without text may follow it.
    """
    for at, item in reversed(list(enumerate(items))):
        match item:
            case ConversationMessage(role="user"):
                wrong = "" if item.text.strip() else "must not be empty"
                if item.unread_parts:
                    kind = _named(item.unread_parts[0])
                    wrong = f"has a part of the type {kind}: only text is read"
                if wrong:
                    raise InvalidRequest.of(f"{field}.{at}.content", wrong)
                return
            case ConversationMessage(role="assistant") if item.text.strip():
                break
    raise InvalidRequest.of(field, "the last message must be the user's question")
