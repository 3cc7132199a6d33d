"""TLS credentials for a Triton server, from the settings that begin with ``triton_``."""

import grpc

from scaar.core.errors import InvalidRequest, Violation
from scaar.runtime.tls import TlsFiles
from scaar.scorer.settings import ScorerSettings

_SETTING = "SCAAR_SCORER_TRITON_"
_TLS_FAILURES = (
    "CERTIFICATE_VERIFY_FAILED",
    "Hostname Verification Check failed",
    "WRONG_VERSION_NUMBER",
)
"""Messages of gRPC if Triton's certificate is rejected or Triton does not use TLS. Their status is
UNAVAILABLE, as for an unreachable server. A server that rejects the client's certificate closes the
connection without a message."""


def read_credentials(settings: ScorerSettings) -> grpc.ChannelCredentials | None:
    """Return the credentials of the channel to Triton, None for plaintext. Blocks.

    Raises:
        InvalidRequest: naming a setting that needs ``triton_tls``, or whose file cannot be used.
    """
    files = {
        "CA_FILE": settings.triton_ca_file,
        "CLIENT_CERT_FILE": settings.triton_client_cert_file,
        "CLIENT_KEY_FILE": settings.triton_client_key_file,
    }
    if not settings.triton_tls:
        text = "requires SCAAR_SCORER_TRITON_TLS=true"
        wrong = [
            Violation(f"{_SETTING}{name}", text) for name, path in files.items() if path is not None
        ]
        if wrong:
            raise InvalidRequest(wrong)
        return None
    ca, cert, key = TlsFiles(_SETTING, *files.values()).contents()
    return grpc.ssl_channel_credentials(
        root_certificates=ca, private_key=key, certificate_chain=cert
    )


def is_tls_failure(message: str) -> bool:
    """Return whether a call failed because the server's TLS does not match the settings."""
    return any(sign in message for sign in _TLS_FAILURES)
