"""TLS to a model server, and its failures."""

import asyncio
import ssl
from collections.abc import Iterator

from scaar.core.errors import CapabilityMissing
from scaar.generator.settings import GeneratorSettings
from scaar.runtime.tls import TlsFiles

_LOST = (ssl.SSLZeroReturnError, ssl.SSLEOFError, ssl.SSLSyscallError)
"""Errors of a lost connection, as opposed to a failed handshake."""


async def read_tls(settings: GeneratorSettings) -> ssl.SSLContext | None:
    """Return the TLS context of the settings' files; None if they name none.

    Raises:
        InvalidRequest: naming the setting whose file is unusable.
    """
    files = TlsFiles(
        "SCAAR_GENERATOR_", settings.ca_file, settings.client_cert_file, settings.client_key_file
    )
    if files.ca is None and files.client_cert is None and files.client_key is None:
        return None
    return await asyncio.to_thread(files.context)


def tls_failure(error: BaseException, server: str) -> CapabilityMissing | None:
    """Return the error if TLS settings and server do not match; None for other failures.

    Such calls are not retried, since a certificate or a setting must change first.
    """
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            description = (
                f"the certificate of {server} is not trusted: {cause.verify_message}; "
                "set SCAAR_GENERATOR_CA_FILE to the authority that signed it"
            )
            return CapabilityMissing(description, server=server)
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, _LOST):
            description = f"{server} rejected the TLS connection: {_words(cause)}"
            return CapabilityMissing(description, server=server)
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and the errors that it wraps."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        # aiohttp's errors hold the TLS error in an attribute.
        inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None)
        yield inner if isinstance(inner, ssl.SSLError) else error
        error = error.__cause__ or error.__context__


def _words(error: ssl.SSLError) -> str:
    reason = getattr(error, "reason", None)
    return str(reason or type(error).__name__).lower().replace("_", " ")
