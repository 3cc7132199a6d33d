"""Validated certificate and key files of TLS."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from scaar.core.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class TlsNames:
    """Last parts of the names of the settings; the defaults are those of clients of servers."""

    ca: str = "CA_FILE"
    cert: str = "CLIENT_CERT_FILE"
    key: str = "CLIENT_KEY_FILE"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files of a TLS endpoint: trusted authorities (default: the system's), certificate, key.

    ``setting`` is the prefix of the names of the settings; ``names`` are their last parts.
    """

    setting: str
    ca: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    names: TlsNames = field(default=TlsNames(), kw_only=True)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that are set."""
        named = (self.ca, self.client_cert, self.client_key)
        return tuple(path for path in named if path is not None)

    def context(self) -> ssl.SSLContext:
        """Return the TLS context of a connection. Blocks while it reads the files.

        Raises:
            InvalidRequest: naming the setting whose file is missing or invalid.
        """
        context, names = self._trusting(), self.names
        cert, key = self.client_cert, self.client_key
        if cert is None and key is None:
            return context
        if cert is None:
            raise self._wrong(names.cert, f"must be set together with {names.key}")
        if key is None:
            raise self._wrong(names.key, f"must be set together with {names.cert}")
        self._read(names.cert, cert)
        self._read(names.key, key)
        try:
            # Without a password the library would prompt for one.
            context.load_cert_chain(cert, key, password="")
        except OSError as error:  # includes ssl.SSLError
            text = f"{key} is not the unencrypted PEM key of the certificate in {cert}"
            raise self._wrong(names.key, text) from error
        return context

    def contents(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        """Return the validated contents of CA, certificate and key."""
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
            text = f"{self.ca} contains no certificates in PEM"
            raise self._wrong(self.names.ca, text) from error

    def _read(self, name: str, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise self._wrong(name, f"{path} cannot be read: {error.strerror}") from error

    def _wrong(self, name: str, description: str) -> InvalidRequest:
        return InvalidRequest.of(f"{self.setting}{name}", description)
