"""The files that TLS goes by, each held to be what its setting says."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from scaar.core.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class TlsNames:
    """How the settings of the files end; a client's of another back end unless given."""

    ca: str = "CA_FILE"
    cert: str = "CLIENT_CERT_FILE"
    key: str = "CLIENT_KEY_FILE"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Certificates in PEM: whom to trust, unset the system's, and what to be known by, if any.

    ``setting`` is what the names of the settings begin with, up to those of ``names``.
    """

    setting: str
    ca: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    names: TlsNames = field(default=TlsNames(), kw_only=True)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Those files that there are."""
        named = (self.ca, self.client_cert, self.client_key)
        return tuple(path for path in named if path is not None)

    def context(self) -> ssl.SSLContext:
        """What a connection is made with. Blocks while it reads the files.

        Raises:
            InvalidRequest: naming the setting whose file is missing, or is not what it has to be.
        """
        context, names = self._trusting(), self.names
        cert, key = self.client_cert, self.client_key
        if cert is None and key is None:
            return context
        if cert is None:
            raise self._wrong(names.cert, f"must be set beside {names.key}")
        if key is None:
            raise self._wrong(names.key, f"must be set beside {names.cert}")
        self._read(names.cert, cert)
        self._read(names.key, key)
        try:
            # Without the password the library would ask the terminal for one.
            context.load_cert_chain(cert, key, password="")
        except OSError as error:  # ssl.SSLError is one; others are of a file that has just gone
            told = f"{key} is not the unencrypted key, in PEM, of the certificate in {cert}"
            raise self._wrong(names.key, told) from error
        return context

    def contents(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        """What CA, certificate and key hold, once :meth:`context` has passed them."""
        self.context()
        ca, cert, key = (
            self._read(name, path) if path is not None else None
            for name, path in (
                (self.names.ca, self.ca),
                (self.names.cert, self.client_cert),
                (self.names.key, self.client_key),
            )
        )
        return ca, cert, key

    def _trusting(self) -> ssl.SSLContext:
        if self.ca is None:
            return ssl.create_default_context()
        self._read(self.names.ca, self.ca)
        try:
            return ssl.create_default_context(cafile=self.ca)
        except OSError as error:
            told = f"{self.ca} is no file of certificates in PEM"
            raise self._wrong(self.names.ca, told) from error

    def _read(self, name: str, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise self._wrong(name, f"{path} cannot be read: {error.strerror}") from error

    def _wrong(self, name: str, description: str) -> InvalidRequest:
        return InvalidRequest.of(f"{self.setting}{name}", description)
