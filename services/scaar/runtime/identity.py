"""Authentication of callers."""

from typing import Any

from scaar.core.errors import PermissionDenied, Unauthenticated
from scaar.core.tenancy import TENANT_KEY, tenant_proved
from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.runtime.identities import Identities
from scaar.runtime.watched_files import WatchedFiles

_SCHEME = "bearer "
_ALTERNATIVE_NAMES, _COMMON_NAME = "x509_subject_alternative_name", "x509_common_name"


class IdentityInterceptor(CallInterceptor):
    """Authenticates the caller before the request is decoded. Health needs no identity.

    A token takes precedence over a certificate. The tenant of the call is the caller's.
    """

    EXEMPT_PREFIX = "/grpc.health."

    def __init__(self, identities: WatchedFiles[Identities]) -> None:
        self._identities = identities

    def around(self, behavior: Behavior, method: str) -> Behavior:
        async def identified(request: Any, context: Context) -> Any:
            identities = self._identities.current()
            tenant = _tenant_of(context, identities)
            for requested in metadata_of(context, TENANT_KEY):
                if requested != tenant:
                    text = f"{TENANT_KEY} is {requested!r}, but the caller's tenant is {tenant!r}"
                    raise PermissionDenied(text)
            # The access of one version of the file holds for the whole call.
            with tenant_proved(tenant, identities.access_of(tenant)):
                return await behavior(request, context)

        return identified


def metadata_of(context: Context, name: str) -> list[str]:
    """Return all metadata values of a call with this name."""
    found = context.invocation_metadata() or ()
    return [value for key, value in found if key == name and isinstance(value, str)]


def _tenant_of(context: Context, identities: Identities) -> str:
    if given := metadata_of(context, "authorization"):
        if len(given) > 1 or given[0][: len(_SCHEME)].lower() != _SCHEME:
            raise Unauthenticated("metadata authorization must be one bearer token")
        tenant = identities.of_token(given[0][len(_SCHEME) :].strip())
        if tenant is None:
            raise Unauthenticated("the bearer token is unknown")
        return tenant
    names = _names_in(context)
    tenant = identities.of_names(names)
    if tenant is not None:
        return tenant
    if names:
        text = f"the certificate of {', '.join(names)} is unknown, and there is no bearer token"
        raise Unauthenticated(text)
    raise Unauthenticated("a bearer token is missing: metadata authorization, 'Bearer TOKEN'")


def _names_in(context: Context) -> list[str]:
    """Return the names in the client's certificate, which TLS has verified."""
    found = context.auth_context()
    names = found.get(_ALTERNATIVE_NAMES) or found.get(_COMMON_NAME) or ()
    return [name.decode(errors="replace") for name in names if name]
