"""Health check of a server, for images.

    python -m scaar.runtime.probe [HOST:PORT [SERVICE]]
    python -m scaar.runtime.probe http://HOST:PORT/PATH

The exit status is 0 if the server reports SERVING within 4 s, 1 if it does not, and 2 for invalid
usage. SERVICE is the name of a service in the contract; by default the probe checks the whole
server. Without arguments it reads them from the variable ``PROBE``, since images have no shell.
The settings ``SCAAR_CHANNEL_*`` configure TLS.

A URL is that of the gateway or of the console, which must return 200. The probe uses TLS if it has
a certificate (``SCAAR_GATEWAY_TLS_CERT_FILE``, ``SCAAR_CONSOLE_TLS_CERT_FILE``). It does not verify
it, since its names are those that callers use.
"""

import asyncio
import os
import sys

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.runtime.health import wait_until_serving
from scaar.runtime.renewing_channel import CredentialsSource

TIMEOUT_S = 4.0
_SETTINGS = ("SCAAR_CHANNEL_", "SCAAR_CONFIG")
"""Prefixes of variables that may configure TLS."""
_SCHEMES = ("http://", "https://")


def main(arguments: list[str]) -> int:
    """Run the probe and return its exit status."""
    arguments = arguments or os.environ.get("PROBE", "").split()
    if len(arguments) not in (1, 2):
        print("usage: python -m scaar.runtime.probe [HOST:PORT [SERVICE]]", file=sys.stderr)
        return 2
    target, service = (*arguments, "")[:2]
    try:
        if target.startswith(_SCHEMES):
            from scaar.runtime.http_probe import check_url

            check_url(target, timeout_s=TIMEOUT_S)
        else:
            asyncio.run(
                wait_until_serving(target, service, timeout_s=TIMEOUT_S, credentials=_credentials())
            )
    except InvalidRequest as error:
        print(error.message, file=sys.stderr)
        return 2
    except BackendUnavailable as error:
        print(error.message, file=sys.stderr)
        return 1
    return 0


def _credentials() -> CredentialsSource | None:
    if not any(name.startswith(_SETTINGS) for name in os.environ):
        return None
    # Reading settings takes most of the time of a probe, and probes run every few seconds.
    from scaar.runtime.channel_security import read_channel_credentials

    return read_channel_credentials()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
