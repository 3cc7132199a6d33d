"""The variables that name an installation: read as README.md says, or refused by name."""

from pathlib import Path

import pytest

from .access import Access
from .needs import Need, deselected_line

TARGET = {"SCAAR_TARGET": "scaar.example.com:443"}


def test_without_a_target_no_installation_is_named() -> None:
    assert Access.read({"SCAAR_TARGET": "", "SCAAR_TOKEN": ""}) is None


def test_an_installation_is_reached_as_the_variables_say(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("one")
    urls = "http://a/metrics, http://b/metrics"
    more = {"SCAAR_TLS_CA_FILE": str(ca), "SCAAR_TOKEN": "t", "SCAAR_METRICS_URLS": urls}
    read = Access.read({**TARGET, **more, "SCAAR_INDEX": "mine", "SCAAR_QUESTION": "Who?"})
    assert read
    assert (read.target, read.evaluator_target) == ("scaar.example.com:443", "")
    assert (read.ca, read.cert, read.token) == (ca, None, "t")
    assert read.metrics() == ("http://a/metrics", "http://b/metrics")
    assert (read.index, read.question) == ("mine", "Who?")
    assert read.gateways == ()


def test_a_gateway_is_reached_by_its_url() -> None:
    read = Access.read({**TARGET, "SCAAR_GATEWAY_URL": "https://scaar.example.com/"})
    assert read
    assert read.gateways == ("https://scaar.example.com",)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"SCAAR_TOKEN": "t"}, "SCAAR_TOKEN goes with SCAAR_TARGET, which is not set"),
        ({**TARGET, "SCAAR_TOKEN": "t"}, "go by TLS: set SCAAR_TLS_CA_FILE"),
        ({**TARGET, "SCAAR_TLS_CA_FILE": "/none"}, "SCAAR_TLS_CA_FILE is no file"),
        ({**TARGET, "SCAAR_TLS_KEY_FILE": __file__}, "SCAAR_TLS_KEY_FILE go together"),
        ({"SCAAR_GATEWAY_URL": "http://a"}, "SCAAR_GATEWAY_URL goes with SCAAR_TARGET"),
        ({**TARGET, "SCAAR_GATEWAY_URL": "a:8090"}, "'a:8090' is no http:// or https://"),
        ({**TARGET, "SCAAR_METRICS_URLS": "a:9464"}, "'a:9464' is no http:// or https://"),
    ],
)
def test_a_variable_that_is_wrong_is_refused_by_its_name(
    variables: dict[str, str], said: str
) -> None:
    with pytest.raises(pytest.UsageError, match=said):
        Access.read(variables)


def test_skipped_tests_are_reported_in_one_line() -> None:
    line = deselected_line([Need.TOKEN, Need.METRICS, Need.TOKEN])
    assert line == (
        "3 installation tests deselected: 2 need SCAAR_TOKEN, 1 need SCAAR_METRICS_URLS"
    )
