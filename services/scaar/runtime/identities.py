"""Permitted callers of a server, from a file, and the indexes that their tenants may read.

tokens:                 # printf %s "$TOKEN" | sha256sum
  9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08: acme
certificates:           # an alternative name, or the common name if there is none
  evaluator.scaar.internal: scaar
tenants:                # without this section, every tenant may read every index
  acme:
    indexes: {acme-docs: {}, shared: {tenant: acme}}
  scaar:
    indexes: {"*": {}}
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Self

from scaar.core.access import EVERY_INDEX, NO_INDEX, IndexAccess
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.tenancy import wrong_tenant
from scaar.runtime.access_rules import SECTION as TENANTS
from scaar.runtime.access_rules import read_access_rules
from scaar.runtime.config_file import ConfigFile
from scaar.runtime.settings import ServiceSettings, variable_of
from scaar.runtime.watched_files import WatchedFiles

_SECTIONS = ("tokens", "certificates")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Identities:
    """Tenants by token and by certificate, and their access to indexes."""

    tokens: Mapping[bytes, str] = field(repr=False)
    """By SHA-256 digest; tokens themselves are not stored."""
    certificates: Mapping[str, str]
    tenants: Mapping[str, IndexAccess] | None = None
    """None if every tenant may read every index; otherwise, others than these may read none."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file of identities.

        Raises:
            InvalidRequest: the file cannot be read, or has invalid entries; names all of them.
        """
        known = (*_SECTIONS, TENANTS)
        file = ConfigFile.read(path, known=known)
        tokens, certificates = (file.sections.get(name, {}) for name in _SECTIONS)
        tenants, wrong_rules = read_access_rules(file)
        wrong = file.unknown(known)
        for section in _SECTIONS:
            for name, tenant in file.sections.get(section, {}).items():
                if section == "tokens" and not _SHA256.fullmatch(name):
                    # The name may be a token, so the error does not quote it.
                    message = "must be the SHA-256 of a token, 64 hexadecimal digits"
                    wrong.append(Violation(file.named(section, name[:4] + "..."), message))
                elif section == "certificates" and _SHA256.fullmatch(name):
                    message = "is the SHA-256 of a token, which belongs in the section tokens"
                    wrong.append(Violation(file.named(section, name[:8] + "..."), message))
                elif message := wrong_tenant(tenant if isinstance(tenant, str) else ""):
                    named = name[:8] + "..." if section == "tokens" else name
                    wrong.append(Violation(file.named(section, named), f"the tenant {message}"))
        wrong += wrong_rules
        if wrong:
            raise InvalidRequest(wrong)
        if not tokens and not certificates:
            raise InvalidRequest.of(str(path), "has neither tokens nor certificates")
        return cls(
            {bytes.fromhex(name): str(tenant) for name, tenant in tokens.items()},
            {name: str(tenant) for name, tenant in certificates.items()},
            tenants,
        )

    def access_of(self, tenant: str) -> IndexAccess:
        """Return the access of a tenant to indexes."""
        return EVERY_INDEX if self.tenants is None else self.tenants.get(tenant, NO_INDEX)

    def of_token(self, token: str) -> str | None:
        """Return the tenant of a token. All tokens are compared, each in constant time."""
        found, digest = None, sha256(token.encode()).digest()
        for known, tenant in self.tokens.items():
            if compare_digest(known, digest):
                found = tenant
        return found

    def of_names(self, names: Sequence[str]) -> str | None:
        """Return the tenant of a certificate with these names."""
        return next((self.certificates[each] for each in names if each in self.certificates), None)


def read_identities(settings: ServiceSettings) -> WatchedFiles[Identities] | None:
    """Return the identities of the settings, reloaded on change; None if every caller is accepted.

    Raises:
        InvalidRequest: naming the setting whose file is unusable.
    """
    path = settings.identities_file
    if path is None:
        return None
    name = variable_of(type(settings), "identities_file")

    def read() -> Identities:
        try:
            found = Identities.read(path)
        except InvalidRequest as error:
            raise InvalidRequest.of(name, error.message) from error
        if found.certificates and settings.tls_client_ca_file is None:
            message = f"{path} lists certificates, which require TLS_CLIENT_CA_FILE"
            raise InvalidRequest.of(name, message)
        return found

    return WatchedFiles([path], read)
