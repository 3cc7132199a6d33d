"""Targets of channels, checked before a channel is opened."""

import re

from scaar.core.errors import InvalidRequest

_EXAMPLE = "dns:///127.0.0.1:50051"
_URL = re.compile(r"https?://", re.IGNORECASE)
# Name resolvers of gRPC whose addresses need a port; those of the others are passed as they are.
_RESOLVER = re.compile(r"(?:dns:(?://[^/]*/)?|ipv4:|ipv6:(?=\[))(?P<addresses>.*)")
_OTHER_RESOLVER = re.compile(r"(?:unix|unix-abstract|vsock|xds|google-c2p):", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:[^\s:/\[\]]+|\[[^\s\[\]/]+\]):(?P<port>\d{1,5})")
_HOST = re.compile(r"[^\s:/\[\]]+|\[[^\s\[\]/]+\]")
_ONE = r"([^\s:/\[\],]+|\[[^\s\[\]/]+\]):[0-9]{1,5}"
PATTERN = (
    rf"^(unix|unix-abstract|vsock|xds|google-c2p):.*$|^(dns:(//[^/]*/)?|ipv[46]:)?{_ONE}(,{_ONE})*$"
)
"""Pattern of the targets that :func:`check_target` passes, without lookahead, for the chart."""


def check_target(target: str, *, field: str = "target") -> None:
    """Pass the target of a gRPC channel, such as ``dns:///host:port``.

    Raises:
        InvalidRequest: the target is empty, a URL, or without a port; names the ``field`` and says
            what to write.
    """
    if not target.strip():
        raise InvalidRequest.of(field, f"must not be empty: write HOST:PORT, such as {_EXAMPLE}")
    if url := _URL.match(target):
        address = target[url.end() :].partition("/")[0] or "HOST:PORT"
        advice = f"write dns:///{_with_port(address)}"
        if target.lower().startswith("https"):
            advice += ", and give the file of a CA for TLS"
        raise InvalidRequest.of(field, f"must be a gRPC target, not the URL {target!r}: {advice}")
    if _OTHER_RESOLVER.match(target):
        return
    found = _RESOLVER.fullmatch(target)
    addresses = found["addresses"] if found else target
    for address in addresses.split(","):
        match = _ADDRESS.fullmatch(address)
        if match and 0 < int(match["port"]) <= 65_535:
            continue
        if _HOST.fullmatch(address):
            advice = f"write dns:///{_with_port(address)}"
            raise InvalidRequest.of(field, f"must have a port, unlike {target!r}: {advice}")
        text = f"must be HOST:PORT, such as {_EXAMPLE}, not {target!r}"
        raise InvalidRequest.of(field, text)


def _with_port(address: str) -> str:
    return f"{address}:PORT" if _HOST.fullmatch(address) else address
