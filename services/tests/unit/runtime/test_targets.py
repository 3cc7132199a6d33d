import re

import pytest

from scaar.core.errors import InvalidRequest
from scaar.runtime.targets import PATTERN, check_target


@pytest.mark.parametrize(
    "target",
    [
        "dns:///127.0.0.1:50051",
        "dns:///scaar-orchestrator.scaar.svc:50051",
        "dns://8.8.8.8/host:1",
        "dns:host:65535",
        "host:1",
        "localhost:50051",
        "[::1]:50051",
        "ipv4:1.2.3.4:5,2.3.4.5:6",
        "ipv6:[::1]:4",
        "unix:/tmp/socket",
        "unix:///tmp/socket",
        "xds:///service",
    ],
)
def test_a_target_of_grpc_is_accepted(target: str) -> None:
    check_target(target)
    assert re.search(PATTERN, target)


@pytest.mark.parametrize(
    ("target", "advice"),
    [
        ("", "must not be empty: write HOST:PORT, such as dns:///127.0.0.1:50051"),
        ("  ", "must not be empty: write HOST:PORT, such as dns:///127.0.0.1:50051"),
        ("http://host:50051", "write dns:///host:50051"),
        ("http://host:50051/path", "write dns:///host:50051"),
        ("https://host", "write dns:///host:PORT, and give the file of a CA for TLS"),
        ("host", "must have a port, unlike 'host': write dns:///host:PORT"),
        ("dns:///host", "write dns:///host:PORT"),
        ("dns:///", "must be HOST:PORT"),
        ("::1", "must be HOST:PORT"),
        ("host:0", "must be HOST:PORT"),
        ("host:65536", "must be HOST:PORT"),
        ("host:http", "must be HOST:PORT"),
        ("a b:1", "must be HOST:PORT"),
    ],
)
def test_an_error_says_what_to_write(target: str, advice: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_target(target, field="address")
    assert [each.field for each in caught.value.violations] == ["address"]
    assert advice in str(caught.value)
    assert not re.search(PATTERN, target) or target in ("host:0", "host:65536")
