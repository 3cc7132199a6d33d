"""Pages of a list: their size, and tokens for the next page."""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence

from scaar.core.errors import InvalidRequest

PAGE_SIZE, MAX_PAGE_SIZE = 100, 1_000


def page_size_of(given: int | None) -> int:
    """Return the number of entries of a page.

    Raises:
        InvalidRequest: the requested size is out of range.
    """
    if given is None:
        return PAGE_SIZE
    if not 1 <= given <= MAX_PAGE_SIZE:
        raise InvalidRequest.of("page_size", f"must be 1 to {MAX_PAGE_SIZE:,}, not {given:,}")
    return given


def next_page_token(query: Sequence[str], place: Sequence[int]) -> str:
    """Return the token for the page of a query after a place."""
    content = json.dumps([_digest(query), *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def place_of(token: str, query: Sequence[str], *, length: int) -> tuple[int, ...] | None:
    """Return the place in a token; None for an empty token, which is the first page.

    Raises:
        InvalidRequest: the token is invalid or belongs to another query.
    """
    if not token:
        return None
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        read = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError, binascii.Error) as error:
        raise InvalidRequest.of("page_token", "is not a token that a page returned") from error
    whole = isinstance(read, list) and len(read) == length + 1
    if not whole or not all(_is_place(each) for each in read[1:]):
        raise InvalidRequest.of("page_token", "is not a token that a page returned")
    if read[0] != _digest(query):
        raise InvalidRequest.of(
            "page_token", "belongs to another query; repeat the query of its page"
        )
    return tuple(read[1:])


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _digest(query: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(query)).encode()).hexdigest()[:16]
