"""The identity of the caller of a request, passed on to services of gRPC."""

from collections.abc import Mapping

from scaar.core.errors import Unauthenticated
from scaar.core.tenancy import TENANT_KEY
from scaar.runtime.channel_security import ChannelSecurity
from scaar.wire.calls import REQUEST_ID_KEY

AUTHORIZATION = "authorization"
FORWARDED = (TENANT_KEY, "traceparent", "tracestate")
"""Headers that services get as metadata, beside the token and the request id."""

Metadata = tuple[tuple[str, str], ...]


def needs_tokens() -> bool:
    """Return whether callers need a token of their own: channels identify this process."""
    security = ChannelSecurity.read()
    return security.cert_file is not None or security.token_file is not None


def caller_metadata(
    headers: Mapping[str, str], request_id: str, *, require_token: bool
) -> Metadata:
    """Return the metadata of calls for a caller: identity, tenant, trace and request id.

    Raises:
        Unauthenticated: the token is missing, or is none.
    """
    authorization = headers.get(AUTHORIZATION, "").strip()
    scheme, _, token = authorization.partition(" ")
    if authorization and not (scheme.lower() == "bearer" and _sendable(token)):
        raise Unauthenticated("the header authorization must be 'Bearer TOKEN'")
    if require_token and not token:
        raise Unauthenticated("a bearer token is missing: header authorization, 'Bearer TOKEN'")
    found = ((name, headers.get(name, "")) for name in FORWARDED)
    sent = [(name, value) for name, value in found if value and _sendable(value)]
    if token:
        # Clients without a key send the scheme alone.
        sent.append((AUTHORIZATION, f"Bearer {token}"))
    return (*sent, (REQUEST_ID_KEY, request_id))


def _sendable(value: str) -> bool:
    return value.isascii() and value.isprintable()
