"""The tenant of a call, as its caller has proved it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TENANT_KEY = "x-scaar-tenant"
"""Metadata key that names the tenant if callers are not authenticated."""
MAX_TENANT_CHARACTERS = 128

_PROVED: ContextVar[str | None] = ContextVar("proved_tenant", default=None)


def proved_tenant() -> str | None:
    """Return the tenant of the current call; None if callers are not authenticated."""
    return _PROVED.get()


@contextmanager
def tenant_proved(tenant: str) -> Iterator[None]:
    """Run the block for the tenant."""
    token = _PROVED.set(tenant)
    try:
        yield
    finally:
        _PROVED.reset(token)


def wrong_tenant(tenant: str) -> str:
    """Return why a text is not the name of a tenant; empty if it is one."""
    if not 1 <= len(tenant) <= MAX_TENANT_CHARACTERS:
        return f"must have 1 to {MAX_TENANT_CHARACTERS} characters"
    if not (tenant.isascii() and tenant.isprintable() and tenant.strip() == tenant):
        return "must be printable ASCII without leading or trailing white space"
    return ""
