"""The file of ``scaar ask --messages``."""

import json
import sys
from pathlib import Path

from scaar.client.requests import message_of
from scaar.core.errors import InvalidRequest
from scaar.core.types import Message


def read_messages(path: Path) -> tuple[Message, ...]:
    """Return the messages of a conversation in a JSON file; ``-`` is standard input.

    Raises:
        InvalidRequest: the file cannot be read, or is no list of messages; names the message.
    """
    try:
        text = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        found = json.loads(text)
    except OSError as error:
        raise InvalidRequest.of("--messages", f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidRequest.of("--messages", f"{path} is not JSON: {error}") from error
    if not isinstance(found, list) or not found:
        raise InvalidRequest.of("--messages", f"{path} must be a list of messages")
    return tuple(message_of(each, number) for number, each in enumerate(found))
