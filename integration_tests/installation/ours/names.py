"""DNS server on a free port of loopback.

It answers queries for IPv4 addresses (RFC 1035), and gives no addresses of any other kind.
"""

import socketserver
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from socket import inet_aton
from threading import Lock, Thread

from .places import HOST

_HEADER = struct.Struct(">HHHHHH")
_IPV4, _IN = 1, 1
_ANSWER, _NO_NAME = 0x8400, 0x8403
_TTL_S = 0


class Names:
    """Addresses by name; ``server`` is the address of the DNS server."""

    def __init__(self) -> None:
        self.server = ""
        self._addresses: dict[str, list[str]] = {}
        self._lock = Lock()

    def add(self, name: str, address: str) -> None:
        with self._lock:
            self._addresses.setdefault(name, []).append(address)

    def remove(self, name: str, address: str) -> None:
        with self._lock:
            self._addresses[name].remove(address)

    def answer(self, query: bytes) -> bytes:
        """Return the response to a query of one question."""
        end, labels = _HEADER.size, []
        while length := query[end]:
            labels.append(query[end + 1 : end + 1 + length].decode())
            end += 1 + length
        kind, _ = struct.unpack_from(">HH", query, end + 1)
        with self._lock:
            known = list(self._addresses.get(".".join(labels), ()))
        found = known if kind == _IPV4 else []
        flags = _ANSWER if known else _NO_NAME
        (query_id,) = struct.unpack_from(">H", query)
        header = _HEADER.pack(query_id, flags, 1, len(found), 0, 0)
        # Each record points to the name of the question.
        records = (
            struct.pack(">HHHIH", 0xC00C, _IPV4, _IN, _TTL_S, 4) + inet_aton(a) for a in found
        )
        return header + query[_HEADER.size : end + 5] + b"".join(records)


@contextmanager
def serving_names() -> Iterator[Names]:
    """Run a DNS server for the duration of the block."""
    names = Names()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            query, sock = self.request
            sock.sendto(names.answer(query), self.client_address)

    with socketserver.UDPServer((HOST, 0), Handler) as server:
        names.server = f"{HOST}:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield names
        finally:
            server.shutdown()
            thread.join()
