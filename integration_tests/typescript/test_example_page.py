"""The example page in Chromium: it asks, and shows the answer, its sources and errors."""

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from scaar.testing.lab_installation import LabInstallation

_PATIENCE_MS = 60_000


@pytest.fixture(scope="session")
def site(package: Path) -> Iterator[str]:
    """Serve the folder of the example, and yield its URL."""
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(package / "example")
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = os.environ.get("SCAAR_CHROMIUM") or shutil.which("chromium")
    assert found, "Chromium is missing: apt-get install chromium, or set SCAAR_CHROMIUM"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=[390, 1280])
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """Yield a page that fails its test with any error of its console."""
    page = browser.new_page(viewport={"width": request.param, "height": 900})
    page.set_default_timeout(_PATIENCE_MS)
    errors: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("console", on_console)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert errors == []


def test_the_page_shows_the_answer_with_its_sources(
    page: Page, site: str, lab: LabInstallation
) -> None:
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((site, lab.gateway_url))
            else elsewhere.append(request.url)
        ),
    )
    page.goto(f"{site}/index.html?gateway={lab.gateway_url}")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("status")).to_contain_text("Done: ", timeout=_PATIENCE_MS)
    expect(page.locator("#answer")).to_contain_text("So the answer is")
    expect(page.locator("#short")).not_to_be_empty()
    expect(page.locator("#answer sup a").first).to_have_text("[1]")
    expect(page.locator("#sources li").first).to_contain_text("The Haunted Fountain")
    expect(page.locator("#steps")).to_contain_text("Retrieved 3 passages of lab")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert [each for each in elsewhere if not each.startswith("data:")] == []
    if folder := os.environ.get("SCAAR_SCREENSHOTS"):
        assert page.viewport_size is not None
        width = page.viewport_size["width"]
        page.screenshot(path=Path(folder) / f"ask-{width}.png", full_page=True)


def test_the_page_reports_an_error_and_can_be_stopped(
    page: Page, site: str, lab: LabInstallation
) -> None:
    page.goto(f"{site}/index.html?gateway={lab.gateway_url}")
    page.get_by_label("Question").fill("   ")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("status")).to_contain_text("question must")
    page.get_by_label("Question").fill("Who directed the film The Haunted Fountain?")
    # In one task: the answer cannot finish in between.
    page.evaluate("document.querySelector('#ask').click(); document.querySelector('#stop').click()")
    expect(page.get_by_role("status")).to_have_text("Stopped")
    expect(page.get_by_role("button", name="Ask")).to_be_enabled()
