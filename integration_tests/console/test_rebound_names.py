"""A page whose name resolves to this machine (DNS rebinding) reads no console and no gateway."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from .conftest import QUESTION, Recorded

NAME = "evil.example"
CONSOLE = ("/", "/answers", "/indexes", "/answers/{scaar}", "/answers/{scaar}.json")
GATEWAY = ("/v1/models", "/passages/lab/unknown", "/retrieve", "/openapi.json")
READ = """async ([path, body]) => {
  const headers = {"content-type": "application/json"};
  const response = await fetch(path, body === null ? {} : {method: "POST", headers, body});
  return [response.status, await response.text()];
}"""
BODIES = {"/retrieve": '{"queries": ["The Velvet Statue"], "index": "lab"}'}


@pytest.fixture(scope="module")
def rebound(chromium: Callable[..., Browser]) -> Iterator[Browser]:
    """A browser to which the name of the page is this machine."""
    with chromium(f"--host-resolver-rules=MAP {NAME} 127.0.0.1") as browser:
        yield browser


def read(browser: Browser, origin: str, paths: tuple[str, ...]) -> dict[str, tuple[int, str]]:
    """Return what a script of a page of the origin reads at each path."""
    page = browser.new_page()
    # Health is reported to every host: a document of the origin, at the address of the server.
    page.goto(f"{origin}/healthz")
    found = {path: _read(page, path) for path in paths}
    page.close()
    return found


def _read(page: Page, path: str) -> tuple[int, str]:
    status, text = page.evaluate(READ, [path, BODIES.get(path)])
    return int(status), str(text)


@pytest.mark.parametrize("door", ["console", "gateway"])
def test_a_rebound_page_reads_nothing(rebound: Browser, recorded: Recorded, door: str) -> None:
    port = recorded.lab.console_port if door == "console" else recorded.lab.gateway_port
    paths = tuple(
        each.format(**recorded.ids) for each in (CONSOLE if door == "console" else GATEWAY)
    )
    own = read(rebound, f"http://localhost:{port}", paths)
    assert {status for status, _ in own.values()} <= {200, 404}
    assert any("The Velvet Statue" in text for _, text in own.values())
    stolen = read(rebound, f"http://{NAME}:{port}", paths)
    assert {status for status, _ in stolen.values()} == {421}
    assert [path for path, (_, text) in stolen.items() if "Velvet" in text] == []


def test_a_rebound_page_asks_nothing(rebound: Browser, recorded: Recorded) -> None:
    page = rebound.new_page()
    response = page.goto(f"http://{NAME}:{recorded.lab.console_port}/?question={QUESTION}")
    assert response is not None
    assert response.status == 421
    assert page.get_by_role("button").count() == 0
    body: Any = {"model": "scaar", "messages": [{"role": "user", "content": QUESTION}]}
    asked = page.request.post(
        f"http://127.0.0.1:{recorded.lab.gateway_port}/v1/chat/completions",
        data=body,
        headers={"host": f"{NAME}:{recorded.lab.gateway_port}"},
    )
    assert asked.status == 421
    page.close()
