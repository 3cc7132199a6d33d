"""TLS of a server, with certificates that are reloaded when they change."""

import grpc

from scaar.core.errors import InvalidRequest
from scaar.runtime.settings import ServiceSettings, variable_of
from scaar.runtime.tls import TlsFiles, TlsNames
from scaar.runtime.watched_files import WatchedFiles

_NAMES = TlsNames("TLS_CLIENT_CA_FILE", "TLS_CERT_FILE", "TLS_KEY_FILE")


def server_credentials(settings: ServiceSettings) -> grpc.ServerCredentials | None:
    """Return the credentials of a server; None for plaintext. Blocks while it reads the files.

    New connections use the current certificate and authority; open connections are kept.

    Raises:
        InvalidRequest: naming the setting that is missing, or whose file is unusable.
    """
    cert, key, ca = settings.tls_cert_file, settings.tls_key_file, settings.tls_client_ca_file
    if cert is None and key is None:
        if ca is not None:
            name = variable_of(type(settings), "tls_client_ca_file")
            raise InvalidRequest.of(name, "requires TLS_CERT_FILE and TLS_KEY_FILE")
        return None
    files = TlsFiles(variable_of(type(settings), ""), ca, cert, key, names=_NAMES)
    watched = WatchedFiles(files.paths, lambda: _configuration(files))
    current = first = watched.current()

    def changed() -> grpc.ServerCertificateConfiguration | None:
        """Return the new configuration, or None. gRPC calls it before each handshake."""
        nonlocal current
        last, current = current, watched.current()
        return None if current is last else current

    return grpc.dynamic_ssl_server_credentials(
        first,
        changed,  # type: ignore[arg-type]  # the stubs do not allow None; gRPC does
        require_client_authentication=ca is not None,
    )


def _configuration(files: TlsFiles) -> grpc.ServerCertificateConfiguration:
    ca, cert, key = files.contents()
    assert cert is not None, "contents() refuses a certificate without its key"
    assert key is not None, "and a key without its certificate"
    return grpc.ssl_server_certificate_configuration([(key, cert)], root_certificates=ca)
