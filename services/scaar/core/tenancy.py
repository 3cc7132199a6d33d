"""For whom a call is made, once its caller has proved who they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TENANT_KEY = "x-scaar-tenant"
"""The field of a call's metadata that says it where nothing is proved."""
MAX_TENANT_CHARACTERS = 128

_PROVED: ContextVar[str | None] = ContextVar("proved_tenant", default=None)


def proved_tenant() -> str | None:
    """The tenant of the call that is being answered; None where callers need prove nothing."""
    return _PROVED.get()


@contextmanager
def tenant_proved(tenant: str) -> Iterator[None]:
    """What is done in the block is done for the tenant."""
    token = _PROVED.set(tenant)
    try:
        yield
    finally:
        _PROVED.reset(token)


def wrong_tenant(tenant: str) -> str:
    """What keeps a text from naming a tenant; empty for nothing."""
    if not 1 <= len(tenant) <= MAX_TENANT_CHARACTERS:
        return f"must have 1 to {MAX_TENANT_CHARACTERS} characters"
    if not (tenant.isascii() and tenant.isprintable() and tenant.strip() == tenant):
        return "must be printable ASCII without white space at its ends"
    return ""
