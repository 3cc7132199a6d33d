"""Every response carries the headers of the console, and other sites cannot change anything."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from scaar.console.settings import ConsoleSettings
from scaar.testing.console_back_ends import catalog, open_pages

PATHS = ("/", "/answers", "/unknown", "/static/console.css", "/healthz", "/readyz")


@pytest.fixture
def client() -> Iterator[TestClient]:
    with open_pages(catalog=catalog()) as opened:
        yield opened


@pytest.mark.parametrize("path", PATHS)
def test_every_response_carries_the_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert "base-uri 'none'" in policy
    assert "img-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://elsewhere.example.com"},
        {"origin": "null"},
        {"origin": "http://["},
        {"origin": "http://localhost]"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/ask", "/answers/1/feedback"])
def test_a_form_of_another_site_is_rejected(
    client: TestClient, path: str, headers: dict[str, str]
) -> None:
    response = client.post(path, data={"question": "Who?"}, headers=headers)
    assert response.status_code == 403
    assert "content-security-policy" in response.headers


@pytest.mark.parametrize(
    "headers", [{}, {"sec-fetch-site": "same-origin"}, {"origin": "http://localhost"}]
)
def test_the_form_of_the_console_is_accepted(client: TestClient, headers: dict[str, str]) -> None:
    response = client.post("/", data={"question": "Who?"}, headers=headers)
    assert response.status_code == 200


@pytest.mark.parametrize("path", ["//elsewhere.example.com", "/answers//elsewhere.example.com"])
def test_no_path_leads_to_another_site(client: TestClient, path: str) -> None:
    response = client.get(f"http://localhost{path}", follow_redirects=False)
    assert "elsewhere" not in response.headers.get("location", "").split("/")[2:3]


@pytest.mark.parametrize("path", ["/", "/answers", "/unknown", "/static/console.css"])
def test_a_page_of_a_rebound_name_reads_nothing(client: TestClient, path: str) -> None:
    rebound = client.get(path, headers={"host": "evil.example:8091", "sec-fetch-site": "none"})
    assert rebound.status_code == 421
    assert "'evil.example:8091'" in rebound.text
    assert "SCAAR_CONSOLE_ALLOWED_HOSTS" in rebound.text
    assert rebound.headers["content-type"].startswith("text/plain")
    assert "content-security-policy" in rebound.headers


def test_a_rebound_page_cannot_ask(client: TestClient) -> None:
    headers = {"host": "evil.example", "origin": "http://evil.example"}
    response = client.post("/ask", data={"question": "Who?"}, headers=headers)
    assert response.status_code == 421


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_is_reported_to_every_host(client: TestClient, path: str) -> None:
    assert client.get(path, headers={"host": "evil.example"}).status_code == 200


@pytest.mark.parametrize(
    "settings",
    [
        ConsoleSettings(allowed_hosts=("console.example.com",)),
        ConsoleSettings(address="0.0.0.0:8091"),
    ],
)
def test_a_proxy_may_pass_the_public_host_on(settings: ConsoleSettings) -> None:
    with open_pages(catalog=catalog(), settings=settings) as client:
        assert client.get("/", headers={"host": "console.example.com"}).status_code == 200


def test_an_unknown_page_is_a_page(client: TestClient) -> None:
    response = client.get("/unknown")
    assert response.status_code == 404
    assert "There is no such page" in response.text
