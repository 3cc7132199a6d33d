"""URLs of documents, as citations link them."""

from urllib.parse import quote, urlsplit

from scaar.core.errors import InvalidRequest
from scaar.core.filters import MAX_VALUE_CHARACTERS


def is_web_url(url: str) -> bool:
    """Return whether the text is an http or https URL that fits into a metadata field."""
    if not 1 <= len(url) <= MAX_VALUE_CHARACTERS or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def check_prefix(prefix: str) -> str:
    """Return the prefix of URLs.

    Raises:
        InvalidRequest: the prefix is not an http or https URL.
    """
    if not is_web_url(prefix):
        raise InvalidRequest.of(
            "--url-prefix", f"must be an http or https URL, not {prefix[:80]!r}"
        )
    return prefix


def document_url(own: str, prefix: str, source: str) -> str:
    """Return the URL that a document states, else that of its source below the prefix, or ``""``.

    A URL of another scheme, or one too long for a metadata field, counts as none.
    """
    joined = f"{prefix.rstrip('/')}/{quote(source)}" if prefix else ""
    return next((url for url in (own, joined) if is_web_url(url)), "")
