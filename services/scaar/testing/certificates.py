"""A certificate authority of a test's own, for servers and clients on loopback."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate and its key, as files in PEM."""

    cert: Path
    key: Path

    def serving(self, *, clients_of: Path | None = None) -> ssl.SSLContext:
        """What a server listens with; ``clients_of`` is the CA that its clients must be of."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=clients_of)
        context.load_cert_chain(self.cert, self.key)
        if clients_of is not None:
            context.verify_mode = ssl.CERT_REQUIRED
        return context


class Authority:
    """Issues certificates into a folder; ``ca`` is the file of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._ca = trustme.CA()
        self.ca = folder / "ca.pem"
        self._ca.cert_pem.write_to_path(self.ca)

    def issue(self, name: str = HOST, *others: str) -> Issued:
        """A certificate for the name or address, by which its files are called, and for others."""
        issued = Issued(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        made = self._ca.issue_cert(name, *others)
        issued.key.write_bytes(made.private_key_pem.bytes())
        issued.cert.write_bytes(b"".join(each.bytes() for each in made.cert_chain_pems))
        return issued
