"""Addresses that a server listens on."""

import errno
import socket
from typing import TYPE_CHECKING

from scaar.core.errors import AlreadyExists, InvalidRequest

if TYPE_CHECKING:
    import grpc

SERVER_OPTIONS = (
    # On by default, which would let two servers share a port silently.
    ("grpc.so_reuseport", 0),
    # No compression: gRPC inflates a whole request before it checks the size, and a megabyte of
    # gzip can hold a gigabyte of zeros.
    ("grpc.compression_enabled_algorithms_bitset", 1),
)
"""Options of every server."""


def is_address(address: str) -> bool:
    """Return whether a text is ``host:port``, with a port of at most 65,535."""
    host, _, port = address.rpartition(":")
    return bool(host) and port.isdigit() and int(port) <= 65_535


def listen(
    server: "grpc.aio.Server",
    address: str,
    credentials: "grpc.ServerCredentials | None" = None,
    *,
    setting: str = "address",
) -> str:
    """Bind the server to an address and return the address with the bound port.

    Without ``credentials`` the server uses plaintext.

    Raises:
        InvalidRequest: the address cannot be bound; names the ``setting``.
    """
    try:
        port = (
            server.add_secure_port(address, credentials)
            if credentials
            else server.add_insecure_port(address)
        )
    except RuntimeError as error:
        raise InvalidRequest.of(setting, f"cannot listen on {address!r}") from error
    host, separator, requested = address.rpartition(":")
    return f"{host}{separator}{port}" if requested.isdigit() else address


def check_free(address: str, *, setting: str = "address", option: str = "") -> None:
    """Check that an address is free, since gRPC does not report why it cannot bind one.

    The error names the ``option`` that changes the address, if there is one.

    Raises:
        AlreadyExists: the address is in use.
        InvalidRequest: the address is invalid; names the ``setting``.
    """
    if address.startswith("unix:"):
        return
    if not is_address(address):
        raise InvalidRequest.of(setting, f"must be host:port, not {address!r}")
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                advice = f"; choose another with {option}" if option else ""
                text = f"{setting} {address} is already in use{advice}"
                raise AlreadyExists(text, address=address, setting=setting) from error
            # gRPC may still be able to bind the address, and reports it if not.
