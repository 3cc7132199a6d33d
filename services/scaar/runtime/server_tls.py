"""A server's TLS: its certificate, read again when it changes, and whose clients it takes."""

import grpc

from scaar.core.errors import InvalidRequest
from scaar.runtime.settings import ServiceSettings, variable_of
from scaar.runtime.tls import TlsFiles, TlsNames
from scaar.runtime.watched_files import WatchedFiles

_NAMES = TlsNames("TLS_CLIENT_CA_FILE", "TLS_CERT_FILE", "TLS_KEY_FILE")


def server_credentials(settings: ServiceSettings) -> grpc.ServerCredentials | None:
    """What a server listens with; None for plaintext. Blocks while it reads the files.

    New connections get the certificate and the authority that the files hold then; those that are
    open go on.

    Raises:
        InvalidRequest: naming the setting that is missing, or whose file cannot be used.
    """
    cert, key, ca = settings.tls_cert_file, settings.tls_key_file, settings.tls_client_ca_file
    if cert is None and key is None:
        if ca is not None:
            name = variable_of(type(settings), "tls_client_ca_file")
            raise InvalidRequest.of(name, "must be set beside TLS_CERT_FILE and TLS_KEY_FILE")
        return None
    files = TlsFiles(variable_of(type(settings), ""), ca, cert, key, names=_NAMES)
    watched = WatchedFiles(files.paths, lambda: _configuration(files))
    told = first = watched.current()

    def changed() -> grpc.ServerCertificateConfiguration | None:
        """None for no change. gRPC asks before each handshake, from a thread of its own."""
        nonlocal told
        last, told = told, watched.current()
        return None if told is last else told

    return grpc.dynamic_ssl_server_credentials(
        first,
        changed,  # type: ignore[arg-type]  # the stubs know of no None; gRPC does
        require_client_authentication=ca is not None,
    )


def _configuration(files: TlsFiles) -> grpc.ServerCertificateConfiguration:
    ca, cert, key = files.contents()
    assert cert is not None, "contents() refuses a certificate without its key"
    assert key is not None, "and a key without its certificate"
    return grpc.ssl_server_certificate_configuration([(key, cert)], root_certificates=ca)
