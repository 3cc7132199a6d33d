"""Says by its status whether a server is serving: what an image's health check runs.

    python -m scaar.runtime.probe [HOST:PORT [SERVICE]]

Without arguments it takes those of the variable ``PROBE``: a health check needs no shell then.
0 where it answers SERVING within the time that there is, 1 where it does not, 2 for wrong usage.
SERVICE is a service's name in the contract; without it the server as a whole is asked. A server
of TLS is asked as the settings ``SCAAR_CHANNEL_*`` say.
"""

import asyncio
import os
import sys

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.runtime.health import wait_until_serving
from scaar.runtime.renewing import CredentialsSource

TIMEOUT_S = 4.0
_SETTINGS = ("SCAAR_CHANNEL_", "SCAAR_CONFIG")
"""How variables begin that may say that the server is one of TLS."""


def main(arguments: list[str]) -> int:
    """The status for these arguments."""
    arguments = arguments or os.environ.get("PROBE", "").split()
    if len(arguments) not in (1, 2):
        print("usage: python -m scaar.runtime.probe [HOST:PORT [SERVICE]]", file=sys.stderr)
        return 2
    target, service = (*arguments, "")[:2]
    try:
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
    # Reading settings takes longer than all else here, and a probe is run every few seconds.
    from scaar.runtime.channel_security import read_channel_credentials

    return read_channel_credentials()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
