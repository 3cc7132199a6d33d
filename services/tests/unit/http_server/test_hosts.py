"""Hosts by which clients may address a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.http_server.hosts import HostRule

LOOPBACK = ("127.0.0.1:8090", "localhost:8090", "[::1]:8090", "127.0.1.5:8090", "a.localhost:1")
ELSEWHERE = ("0.0.0.0:8090", "[::]:8090", "192.168.1.5:8090")
OWN = (
    "localhost",
    "LocalHost:8090",
    "localhost.:1",
    "console.localhost",
    "127.0.0.1",
    "127.9.8.7:80",
    "127.0.0.1.",
    "[::1]",
    "[0:0:0:0:0:0:0:1]:8090",
    "[::ffff:127.0.0.1]",
)
FOREIGN = (
    "evil.example",
    "evil.example:8090",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil-localhost",
    "evillocalhost",
    "localhost@evil.example",
    "localhost:80@evil.example",
    "evil.example@localhost",
    "evil.example#.localhost",
    "evil.example/.localhost",
    "evil.example?.localhost",
    "evil.example\\.localhost",
    "evil.example, localhost",
    "evil.example localhost",
    "evil.example\x00.localhost",
    "http://localhost",
    "localhost..",
    ".localhost",
    "localhost:port",
    "localhost:80:80",
    "[::1",
    "::1",
    "[::1%25lo]",
    "[::2]x",
    "",
    "\xe9vil.localhost",
)


@pytest.mark.parametrize("address", LOOPBACK)
def test_a_server_on_loopback_accepts_loopback_alone(address: str) -> None:
    rule = HostRule(address)
    assert [host for host in OWN if not rule.accepts([host])] == []
    assert [host for host in (*FOREIGN, "192.168.1.5", "8.8.8.8") if rule.accepts([host])] == []
    assert rule.accepts([])
    assert not rule.accepts(["localhost", "localhost"])


@pytest.mark.parametrize("address", ELSEWHERE)
def test_a_server_on_another_address_accepts_everything_by_default(address: str) -> None:
    rule = HostRule(address)
    assert all(rule.accepts([host]) for host in (*OWN, *FOREIGN))
    assert rule.accepts(["a", "b"])


@pytest.mark.parametrize("address", ELSEWHERE)
@pytest.mark.parametrize("rule", [{"always": True}, {"allowed_hosts": ("scaar.example.com",)}])
def test_a_restricted_server_on_another_address_accepts_addresses_and_loopback(
    address: str, rule: dict[str, object]
) -> None:
    restricted = HostRule(address, **rule)  # type: ignore[arg-type]
    addresses = ("192.168.1.5:8090", "10.0.0.7", "[2001:db8::1]:443")
    assert [host for host in (*OWN, *addresses) if not restricted.accepts([host])] == []
    assert [host for host in FOREIGN if restricted.accepts([host])] == []


@pytest.mark.parametrize(
    ("allowed", "host", "accepted"),
    [
        ("scaar.example.com", "scaar.example.com", True),
        ("scaar.example.com", "SCAAR.example.com.:8443", True),
        ("Scaar.Example.com.", "scaar.example.com", True),
        ("scaar.example.com", "x.scaar.example.com", False),
        ("scaar.example.com:*", "scaar.example.com:8443", True),
        ("scaar.example.com:*", "scaar.example.com", True),
        ("scaar.example.com:8443", "scaar.example.com:8443", True),
        ("scaar.example.com:8443", "scaar.example.com:8444", False),
        ("scaar.example.com:8443", "scaar.example.com", False),
        ("scaar.example.com:80", "scaar.example.com", True),
        ("scaar.example.com:443", "scaar.example.com", False),
        ("[2001:db8::1]:8090", "[2001:DB8:0::1]:8090", True),
        ("[2001:db8::1]", "[2001:db8::1]:1", True),
        ("*.example.com", "a.b.example.com:1", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "evilexample.com", False),
        ("*.example.com:8443", "a.example.com", False),
        ("*", "evil.example", True),
        ("*", "a b", True),
    ],
)
def test_allowed_hosts_are_compared_by_name_and_port(
    allowed: str, host: str, accepted: bool
) -> None:
    assert HostRule("127.0.0.1:0", [allowed]).accepts([host]) is accepted
    assert HostRule("0.0.0.0:0", [allowed]).accepts([host]) in (accepted, host.startswith("["))


def test_a_host_without_a_port_has_the_port_of_its_scheme() -> None:
    rule = HostRule("127.0.0.1:0", ["scaar.example.com:443"])
    assert rule.accepts(["scaar.example.com"], scheme="https")
    assert not rule.accepts(["scaar.example.com"], scheme="http")


def test_a_server_accepts_the_name_that_it_is_bound_by() -> None:
    rule = HostRule("unknown.invalid:8090")
    assert rule.accepts(["unknown.invalid:8090"])
    assert not rule.accepts(["evil.example"])


@given(st.text(alphabet="localhst127.:@[]#/ ,xX\x00", max_size=24))
def test_every_accepted_host_is_of_loopback(host: str) -> None:
    if HostRule("127.0.0.1:0").accepts([host]):
        name = host.lower().rpartition(":")[0] if ":" in host.rpartition("]")[2] else host.lower()
        name = name.removesuffix(".").strip("[]")
        assert name == "localhost" or name.endswith(".localhost") or name.startswith(("127.", "::"))


@pytest.mark.parametrize(
    ("origin", "accepted"),
    [
        ("http://localhost:3000", True),
        ("https://scaar.example.com", True),
        ("https://evil.example", False),
        ("http://203.0.113.9", False),
        ("ftp://localhost", False),
        ("http://localhost@evil.example", False),
        ("null", False),
        ("", False),
    ],
)
def test_origins_are_of_loopback_or_allowed_hosts(origin: str, accepted: bool) -> None:
    rule = HostRule("0.0.0.0:0", ["scaar.example.com"])
    assert rule.accepts_origin(origin) is accepted
