"""Where a server listens: addresses that are free, and the ports that it gets."""

import errno
import socket

import grpc

from scaar.core.errors import AlreadyExists, InvalidRequest

SERVER_OPTIONS = (
    # On by default, and then two servers share a port without a word.
    ("grpc.so_reuseport", 0),
    # No compression: gRPC inflates a request whole before it looks at its size, and a megabyte of
    # gzip holds a gigabyte of zeros.
    ("grpc.compression_enabled_algorithms_bitset", 1),
)
"""Options of every server."""


def listen(
    server: grpc.aio.Server,
    address: str,
    credentials: grpc.ServerCredentials | None = None,
    *,
    setting: str = "address",
) -> str:
    """Has the server listen there, in plaintext without ``credentials``; where it does.

    Raises:
        InvalidRequest: it cannot, naming the ``setting``.
    """
    try:
        port = (
            server.add_secure_port(address, credentials)
            if credentials
            else server.add_insecure_port(address)
        )
    except RuntimeError as error:
        raise InvalidRequest.of(setting, f"cannot listen at {address!r}") from error
    host, separator, asked = address.rpartition(":")
    return f"{host}{separator}{port}" if asked.isdigit() else address


def check_free(address: str, *, setting: str = "address") -> None:
    """Refuses an address that is taken, before gRPC does without saying why.

    Raises:
        AlreadyExists: something listens there.
        InvalidRequest: it is no address, naming the ``setting``.
    """
    if address.startswith("unix:"):
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise InvalidRequest.of(setting, f"must be host:port, not {address!r}")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                text = f"something listens at {address} already"
                raise AlreadyExists(text, address=address) from error
            # gRPC may have a way where this has none; it says so if not.
