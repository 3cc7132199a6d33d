"""How a process calls the other services: one set of settings, ``SCAAR_CHANNEL_*``."""

from pathlib import Path

from scaar.core.errors import InvalidRequest, Violation
from scaar.runtime.channel_tls import channel_credentials, checked_token
from scaar.runtime.renewing import CredentialsSource
from scaar.runtime.settings import Settings, settings_of, variable_of
from scaar.runtime.tls import TlsFiles, TlsNames
from scaar.runtime.watched_files import WatchedFiles

_NAMES = TlsNames("CA_FILE", "CERT_FILE", "KEY_FILE")


class ChannelSecurity(Settings):
    """TLS and token of every channel of a process to services of scaar's.

    That is of the orchestrator, the evaluator and its workers, the command line and the health
    check of an image. Triton, OpenSearch and the servers of models have settings of their own.
    """

    model_config = settings_of("channel")

    tls: bool = False
    """Whether the services are called by TLS; without, in plaintext."""

    ca_file: Path | None = None
    """The authority of their certificates, in PEM; the system's without. The files are read again
    when they change."""

    cert_file: Path | None = None
    """The certificate that this process shows, in PEM; set beside ``key_file``."""

    key_file: Path | None = None
    """The unencrypted key of that certificate, in PEM."""

    token_file: Path | None = None
    """A file that holds the bearer token of this process's calls; read again when it changes."""


def read_channel_credentials() -> CredentialsSource | None:
    """What the settings in use open a channel with; None for plaintext. Blocks while it reads.

    Raises:
        InvalidRequest: naming the setting that needs ``tls``, or whose file cannot be used.
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
            Violation(variable_of(ChannelSecurity, name), "is for TLS, and channel.tls is false")
            for name, path in files.items()
            if path is not None
        ]
        if wrong:
            raise InvalidRequest(wrong)
        return None
    named = TlsFiles(variable_of(ChannelSecurity, ""), ca, cert, key, names=_NAMES)
    if token is None:
        return channel_credentials(named)
    return channel_credentials(named, WatchedFiles([token], lambda: _token_in(token)).current)


def _token_in(path: Path) -> str:
    name = variable_of(ChannelSecurity, "token_file")
    try:
        return checked_token(name, path.read_text().strip())
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest.of(name, f"{path} cannot be read: {error}") from error
