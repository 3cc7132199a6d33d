"""Health check of a server that serves HTTP."""

import http.client
import os
import ssl
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

from scaar.core.errors import BackendUnavailable
from scaar.runtime.config_file import config_in_use

_SECTIONS, _FIELD = ("gateway", "console"), "tls_cert_file"


def check_url(url: str, *, timeout_s: float) -> None:
    """Check that the server returns 200, over TLS if gateway or console here have a certificate.

    A configuration file may have both, one of them in plaintext.

    Raises:
        InvalidRequest: the configuration file in use cannot be read.
        BackendUnavailable: the server did not return 200 in time.
    """
    parts = urlsplit(url)
    secured = parts.scheme == "https" or _has_certificate()
    try:
        try:
            status = _status(parts, timeout_s, secured=secured)
        except ssl.SSLError:
            if parts.scheme == "https":
                raise
            status = _status(parts, timeout_s, secured=False)
    except (OSError, http.client.HTTPException) as error:
        raise BackendUnavailable(f"{url} did not respond: {error}", target=url) from error
    if status != HTTPStatus.OK:
        raise BackendUnavailable(f"{url} returned status {status}", target=url)


def _status(parts: SplitResult, timeout_s: float, *, secured: bool) -> int:
    connection = _connection(parts.netloc, timeout_s, secured=secured)
    try:
        connection.request("GET", parts.path or "/")
        return connection.getresponse().status
    finally:
        connection.close()


def _connection(address: str, timeout_s: float, *, secured: bool) -> http.client.HTTPConnection:
    if not secured:
        return http.client.HTTPConnection(address, timeout=timeout_s)
    # A certificate for callers outside need not name this machine, and nothing secret is sent.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(address, timeout=timeout_s, context=context)


def _has_certificate() -> bool:
    if any(os.environ.get(f"SCAAR_{each}_{_FIELD}".upper()) for each in _SECTIONS):
        return True
    config = config_in_use()
    if config is None:
        return False
    return any(config.sections.get(each, {}).get(_FIELD) for each in _SECTIONS)
