"""The tenant of a call, as its caller has proved it, and the indexes that it may read."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from scaar.core.access import EVERY_INDEX, IndexAccess

TENANT_KEY = "x-scaar-tenant"
"""Metadata key that names the tenant if callers are not authenticated."""
DEFAULT_TENANT = "default"
"""Tenant of a call whose caller names none."""
MAX_TENANT_CHARACTERS = 128

_PROVED: ContextVar[tuple[str, IndexAccess] | None] = ContextVar("proved_tenant", default=None)


def proved_tenant() -> str | None:
    """Return the tenant of the current call; None if callers are not authenticated."""
    proved = _PROVED.get()
    return None if proved is None else proved[0]


def proved_access() -> IndexAccess | None:
    """Return the access of the current call's tenant; None if callers are not authenticated."""
    proved = _PROVED.get()
    return None if proved is None else proved[1]


@contextmanager
def tenant_proved(tenant: str, access: IndexAccess = EVERY_INDEX) -> Iterator[None]:
    """Run the block for the tenant, which has this access to indexes."""
    token = _PROVED.set((tenant, access))
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
