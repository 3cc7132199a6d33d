"""Security settings of the channels to other services, from ``SCAAR_CHANNEL_*``."""

from pathlib import Path

from scaar.core.errors import InvalidRequest, Violation
from scaar.runtime.channel_tls import channel_credentials, checked_token
from scaar.runtime.renewing_channel import CredentialsSource
from scaar.runtime.settings import Settings, settings_of, variable_of
from scaar.runtime.tls import TlsFiles, TlsNames
from scaar.runtime.watched_files import WatchedFiles

_NAMES = TlsNames("CA_FILE", "CERT_FILE", "KEY_FILE")


class ChannelSecurity(Settings):
    """TLS and bearer token of every channel to a scaar service.

    They apply to the orchestrator, the evaluator and its workers, the command line and the health
    check of an image. Triton, OpenSearch and model servers have their own settings.
    """

    model_config = settings_of("channel")

    tls: bool = False
    """Enables TLS for calls to services. By default calls use plaintext."""

    ca_file: Path | None = None
    """Path to the certificates, in PEM, of the authority that must have signed the certificates of
    the services. Default: the authorities that the system trusts. The files of this section are
    reloaded when they change."""

    cert_file: Path | None = None
    """Path to the client certificate of this process, in PEM. Requires ``key_file``."""

    key_file: Path | None = None
    """Path to the unencrypted private key of ``cert_file``, in PEM."""

    token_file: Path | None = None
    """Path to a file that contains the bearer token for calls of this process. Requires ``tls``.
    Gateway and console send the tokens of their callers instead."""


def read_channel_credentials(*, with_token: bool = True) -> CredentialsSource | None:
    """Return the channel credentials of the current settings; None for plaintext. Blocks.

    Without a token, for a process whose calls have the tokens of its callers: a call with two is
    rejected.

    Raises:
        InvalidRequest: naming a setting that requires ``tls``, or whose file is unusable.
    """
    settings = ChannelSecurity.read()
    ca, cert, key, token = (
        settings.ca_file,
        settings.cert_file,
        settings.key_file,
        settings.token_file,
    )
    if not settings.tls:
        files = {"ca_file": ca, "cert_file": cert, "key_file": key, "token_file": token}
        wrong = [
            Violation(variable_of(ChannelSecurity, name), "requires channel.tls, which is false")
            for name, path in files.items()
            if path is not None
        ]
        if wrong:
            raise InvalidRequest(wrong)
        return None
    named = TlsFiles(variable_of(ChannelSecurity, ""), ca, cert, key, names=_NAMES)
    if token is None or not with_token:
        return channel_credentials(named)
    return channel_credentials(named, WatchedFiles([token], lambda: _token_in(token)).current)


def _token_in(path: Path) -> str:
    name = variable_of(ChannelSecurity, "token_file")
    try:
        return checked_token(name, path.read_text().strip())
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest.of(name, f"{path} cannot be read: {error}") from error
