"""Messages of a conversation, and how its last question is rewritten."""

import enum
from dataclasses import dataclass


class MessageRole(enum.StrEnum):
    """Author of a message."""

    SYSTEM = "system"
    """The application: instructions for every answer."""
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation."""

    role: MessageRole
    content: str


class RequestKind(enum.StrEnum):
    """What a request is."""

    QUESTION = "question"
    """Of a user."""
    TASK = "task"
    """Of an application, such as a title for a conversation; its record is known as one."""
    PROBE = "probe"
    """A question of which only the first decision matters, so that the client ends the answer."""


class Rewrite(enum.StrEnum):
    """Whether the last question of a conversation is rewritten as a standalone question."""

    AUTO = "auto"
    """If there are earlier messages of the user or the assistant."""
    NEVER = "never"
    """The last message is the question as it is."""


class RewriteOutcome(enum.StrEnum):
    """Result of rewriting a question."""

    REWRITTEN = "rewritten"
    """The model wrote a standalone question, which is answered."""
    EMPTY = "empty"
    """The model wrote nothing; the original question is answered."""
    TOO_LONG = "too_long"
    """The model wrote no question within the limit of tokens; the original one is answered."""
    UNSUPPORTED = "unsupported"
    """The prompt profile has no layout for it; the original question is answered."""
    NOT_A_QUESTION = "not_a_question"
    """What the model wrote neither ends with a question mark nor begins with a question word; the
    original question is answered."""
    REPEATED = "repeated"
    """The model wrote an earlier message again; the original question is answered."""
