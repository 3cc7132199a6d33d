"""Certificates and tokens of a secured installation, made for it."""

import secrets
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from scaar.testing.certificates import HOST, Authority

from .installation import RECORDS, SERVICES

TENANT = "tests"


@dataclass(frozen=True, slots=True)
class Security:
    """Certificates and token of a known caller, in one folder."""

    ca: Path
    cert: Path
    key: Path
    token: str

    def settings(self, folder: Path) -> dict[str, str]:
        """Those of a service that finds the files in a folder; its clients show what they must."""
        ca, cert, key = (str(folder / each.name) for each in (self.ca, self.cert, self.key))
        return {
            "tls_cert_file": cert,
            "tls_key_file": key,
            "tls_client_ca_file": ca,
            "identities_file": str(folder / "identities.yaml"),
            "SCAAR_CHANNEL_TLS": "true",
            "SCAAR_CHANNEL_CA_FILE": ca,
            "SCAAR_CHANNEL_CERT_FILE": cert,
            "SCAAR_CHANNEL_KEY_FILE": key,
            "SCAAR_CHANNEL_TOKEN_FILE": str(folder / "token"),
        }


def make_security(folder: Path, *hosts: str) -> Security:
    """Create an authority, a certificate for loopback, services and hosts, and a token."""
    authority = Authority(folder)
    issued = authority.issue(HOST, *SERVICES, RECORDS, *hosts)
    token = secrets.token_hex(32)
    (folder / "token").write_text(token)
    known = {sha256(token.encode()).hexdigest(): TENANT}
    lines = [f"  {digest}: {tenant}\n" for digest, tenant in known.items()]
    (folder / "identities.yaml").write_text(f"tokens:\n{''.join(lines)}")
    return Security(authority.ca, issued.cert, issued.key, token)
