"""A browser that leaves during a live answer cancels the answer in the orchestrator."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from scaar.client.loop_thread import LoopThread
from scaar.core.types import GenerateRequest
from scaar.testing.fakes import Piece, ScriptedGenerator
from scaar.testing.ports import free_port
from scaar.testing.processes import running_service
from scaar.testing.sockets import serving
from scaar.wire.generator import GeneratorServicer


def _endless(request: GenerateRequest) -> Iterator[Piece]:
    while True:
        yield " and", -0.01


@dataclass(frozen=True)
class SlowAnswers:
    """A console in front of an orchestrator whose model writes a word every 50 ms, to 512 words."""

    url: str
    metrics_url: str
    generator: ScriptedGenerator

    def value(self, metric: str) -> float:
        """Return the sum of a metric of the orchestrator."""
        text = httpx2.get(self.metrics_url).text
        found = re.findall(rf"^{re.escape(metric)}(?:[{{,].*)? (\S+)$", text, re.MULTILINE)
        return sum(map(float, found))


@contextmanager
def _served(generator: ScriptedGenerator) -> Iterator[str]:
    """Serve a generator from another thread: the event loop of this one is Playwright's."""
    with LoopThread() as thread:
        hosted = serving(GeneratorServicer(generator))
        _, target = thread.run(hosted.__aenter__())
        try:
            yield target
        finally:
            thread.run(hosted.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def slow(recorded: object, home: Path) -> Iterator[SlowAnswers]:
    generator = ScriptedGenerator(_endless, delay_s=0.05)
    metrics = f"127.0.0.1:{free_port()}"
    with (
        _served(generator) as target,
        running_service(
            "orchestrator",
            home,
            SCAAR_ORCHESTRATOR_GENERATOR_TARGET=target,
            SCAAR_ORCHESTRATOR_METRICS_ADDRESS=metrics,
        ) as orchestrator,
        running_service(
            "console", home, SCAAR_CONSOLE_ORCHESTRATOR_TARGET=orchestrator.target
        ) as console,
    ):
        url = console.target.removeprefix("dns:///")
        yield SlowAnswers(url, f"http://{metrics}/metrics", generator)


LEAVING: dict[str, Callable[[Page], object]] = {
    "closes the page": lambda page: page.close(),
    "goes to another page": lambda page: page.goto("/policies"),
    "presses stop": lambda page: page.get_by_role("button", name="Stop").click(),
}


@pytest.mark.parametrize("way", LEAVING)
def test_a_browser_that_leaves_cancels_the_answer(
    browser: Browser, slow: SlowAnswers, way: str
) -> None:
    cancelled = 'scaar_answers_total{end="cancelled",policy="no_retrieval"}'
    ended, of_these = slow.value("scaar_answers_total"), slow.value(cancelled)
    page = browser.new_page(base_url=slow.url)
    page.goto("/?question=Who?&policy=no_retrieval")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#live .drafting")).to_contain_text("and and")
    assert slow.value("scaar_answers_in_progress") == 1
    LEAVING[way](page)
    # An answer that is not cancelled ends after 512 words.
    while slow.value("scaar_answers_total") == ended:
        pass
    assert slow.value(cancelled) == of_these + 1
    assert slow.value("scaar_answers_in_progress") == 0
    assert slow.generator.closed == slow.generator.opened
    page.close()
