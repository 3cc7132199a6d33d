"""A certificate authority for tests, with servers and clients on loopback."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate and its key as PEM files."""

    cert: Path
    key: Path

    def serving(self, *, clients_of: Path | None = None) -> ssl.SSLContext:
        """Return the settings of a server; ``clients_of`` is the CA of its clients."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=clients_of)
        context.load_cert_chain(self.cert, self.key)
        if clients_of is not None:
            context.verify_mode = ssl.CERT_REQUIRED
        return context


class Authority:
    """Issues certificates into a folder. ``ca`` is the file of its own certificate."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._ca = trustme.CA()
        self.ca = folder / "ca.pem"
        self._ca.cert_pem.write_to_path(self.ca)

    def issue(self, name: str = HOST, *others: str) -> Issued:
        """Issue a certificate for the names or addresses; the first one names its files."""
        issued = Issued(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        made = self._ca.issue_cert(name, *others)
        issued.key.write_bytes(made.private_key_pem.bytes())
        issued.cert.write_bytes(b"".join(each.bytes() for each in made.cert_chain_pems))
        return issued
