"""Pages of a list: how many entries, and where the one before ended."""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence

from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import MAX_PAGE_SIZE, PAGE_SIZE


def size_of_page(given: int | None) -> int:
    """How many entries a page has.

    Raises:
        InvalidRequest: more or fewer are asked for than there may be.
    """
    if given is None:
        return PAGE_SIZE
    if not 1 <= given <= MAX_PAGE_SIZE:
        raise InvalidRequest.of("page_size", f"must be 1 to {MAX_PAGE_SIZE:,}, not {given:,}")
    return given


def token_behind(query: Sequence[str], place: Sequence[int]) -> str:
    """What the page of a query behind a place is asked with."""
    content = json.dumps([_digest(query), *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def place_in(token: str, query: Sequence[str], *, length: int) -> tuple[int, ...] | None:
    """The place that a token is of; None of an empty one, for the first page.

    Raises:
        InvalidRequest: it is no token, or one of another query.
    """
    if not token:
        return None
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        read = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError, binascii.Error) as error:
        raise InvalidRequest.of("page_token", "is none that a page ended with") from error
    whole = isinstance(read, list) and len(read) == length + 1
    if not whole or not all(_is_place(each) for each in read[1:]):
        raise InvalidRequest.of("page_token", "is none that a page ended with")
    if read[0] != _digest(query):
        raise InvalidRequest.of("page_token", "is of another query than this one")
    return tuple(read[1:])


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _digest(query: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(query)).encode()).hexdigest()[:16]
