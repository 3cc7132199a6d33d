"""Hosts by which clients may address a server, which protects against DNS rebinding.

A page can let its own name resolve to the address of a server, whose responses it may then read:
they are of its origin. Its requests still carry its name as ``Host``. Only names can be rebound.
"""

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from scaar.http_server.name_lists import items_of, names_of

_NAME = r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?"
_IPV6 = r"\[[0-9A-Fa-f:.]+\]"
_HOST = re.compile(rf"(?P<name>{_IPV6}|{_NAME})(:(?P<port>[0-9]{{0,5}}))?")
_ALLOWED = re.compile(rf"\*|({_IPV6}|(\*\.)?{_NAME})(:([0-9]{{1,5}}|\*))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}

AllowedHosts = Annotated[
    tuple[str, ...],
    AfterValidator(
        names_of(_ALLOWED, rule="must be *, HOST, HOST:PORT, HOST:* or *.DOMAIN without a path")
    ),
    Field(json_schema_extra=items_of(_ALLOWED)),
]
"""A setting with hosts: of any port without one, ``*.DOMAIN`` for every name below a domain."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host of a header or a setting: its name in small letters without a final dot, its port."""

    name: str
    port: str = ""

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the host of a header; None if the text is none, for example has userinfo."""
        found = _HOST.fullmatch(text)
        return found and cls(_normal(found["name"]), found["port"] or "")

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The IP address that the host is, if it is no name."""
        try:
            return ip_address(self.name)
        except ValueError:
            return None

    @property
    def is_loopback(self) -> bool:
        """Whether this is a name or an address of loopback."""
        if self.address is None:
            return self.name == "localhost" or self.name.endswith(".localhost")
        mapped = getattr(self.address, "ipv4_mapped", None)
        return (mapped or self.address).is_loopback


class HostRule:
    """The hosts by which clients may address the server at an ``address``, ``host:port``.

    A server on loopback accepts loopback names and addresses, its own name and ``allowed_hosts``.
    Another one accepts every host, unless there are ``allowed_hosts`` or ``always`` is set: then it
    accepts the same hosts, and IP addresses, since it does not know its own behind a NAT.
    """

    def __init__(
        self, address: str, allowed_hosts: Sequence[str] = (), *, always: bool = False
    ) -> None:
        self._own = Host(_normal(address.rpartition(":")[0]))
        self._on_loopback = _is_bound_to_loopback(self._own)
        self._every = "*" in allowed_hosts
        restricted = always or self._on_loopback or bool(allowed_hosts)
        self._restricted = restricted and not self._every
        self._allowed = [_allowed(each) for each in allowed_hosts if each != "*"]

    def accepts(self, hosts: Sequence[str], *, scheme: str = "http") -> bool:
        """Return whether a request of the scheme with these ``Host`` headers is accepted.

        One without the header is, since browsers always send it; one with several is not.
        """
        if not self._restricted or not hosts:
            return True
        host = Host.parse(hosts[0]) if len(hosts) == 1 else None
        if host is None:
            return False
        is_own = host.name == self._own.name
        is_address = host.address is not None and not self._on_loopback
        return is_own or is_address or self._lists(host, scheme)

    def accepts_origin(self, origin: str) -> bool:
        """Return whether an ``Origin`` is a page of loopback or of an allowed host."""
        scheme, _, text = origin.partition("://")
        host = Host.parse(text) if scheme in _DEFAULT_PORTS else None
        return self._every or (host is not None and self._lists(host, scheme))

    def _lists(self, host: Host, scheme: str) -> bool:
        port = host.port or _DEFAULT_PORTS.get(scheme, "")
        return host.is_loopback or any(
            each.port in ("", "*", port) and _matches(each.name, host.name)
            for each in self._allowed
        )


def _normal(name: str) -> str:
    """Return a name in small letters without a final dot, or an address in its shortest form."""
    name = name.strip("[]").lower().removesuffix(".")
    try:
        return str(ip_address(name))
    except ValueError:
        return name


def _allowed(text: str) -> Host:
    name, separator, port = text.rpartition(":")
    if not separator or text.endswith("]"):
        return Host(_normal(text))
    return Host(_normal(name), port)


def _matches(allowed: str, name: str) -> bool:
    return name.endswith(allowed[1:]) if allowed.startswith("*.") else name == allowed


def _is_bound_to_loopback(own: Host) -> bool:
    if own.is_loopback or own.address is not None:
        return own.is_loopback
    try:
        return Host(socket.gethostbyname(own.name)).is_loopback
    except OSError:
        # The server cannot be bound either, which reports the error.
        return True
