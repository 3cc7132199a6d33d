"""Live answers: a browser that leaves cancels one, and a long prompt that is read is shown."""

import asyncio
import re
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from scaar.client.loop_thread import LoopThread
from scaar.core.types import GenerateRequest, GenerationEvent, GenerationProgress
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


class ReadingGenerator(ScriptedGenerator):
    """Reports that a prompt is read, and writes once ``read`` is set."""

    def __init__(self) -> None:
        super().__init__(lambda request: [] if request.prefix else [(" Ann.", -0.01)])
        self.unread, self.read = 1_500, threading.Event()

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        while not self.read.is_set():
            yield GenerationProgress(2_000, 2_000 - self.unread)
            await asyncio.sleep(0.05)
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                yield event


@pytest.fixture
def reading(recorded: object, home: Path) -> Iterator[tuple[str, ReadingGenerator]]:
    """The URL of a console whose model reads a long prompt, and its generator."""
    generator = ReadingGenerator()
    with (
        _served(generator) as target,
        running_service(
            "orchestrator", home, SCAAR_ORCHESTRATOR_GENERATOR_TARGET=target
        ) as orchestrator,
        running_service(
            "console", home, SCAAR_CONSOLE_ORCHESTRATOR_TARGET=orchestrator.target
        ) as console,
    ):
        yield console.target.removeprefix("dns:///"), generator


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_shows_how_much_of_a_prompt_is_still_read(
    browser: Browser, reading: tuple[str, ReadingGenerator], width: int
) -> None:
    url, generator = reading
    page = browser.new_page(base_url=url, viewport={"width": width, "height": 900})
    page.goto("/?question=Who?&policy=no_retrieval")
    page.get_by_role("button", name="Ask").click()
    shown = page.locator("#live .reading")
    expect(shown).to_have_text("reading 1,500 tokens")
    generator.unread = 1
    expect(shown).to_have_text("reading 1 token")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    generator.read.set()
    expect(page.locator("#live .answer")).to_contain_text("Ann")
    expect(shown).to_have_count(0)
    page.close()


def test_a_stopped_answer_shows_no_reading(
    browser: Browser, reading: tuple[str, ReadingGenerator]
) -> None:
    url, _ = reading
    page = browser.new_page(base_url=url)
    page.goto("/?question=Who?&policy=no_retrieval")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#live .reading")).to_have_text("reading 1,500 tokens")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#live .notice")).to_have_text("Stopped.")
    expect(page.locator("#live .reading")).to_have_count(0)
    page.close()


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
