"""An answer of 1,000 words stays usable: the size of its page, its elements and its keyboard."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page

from scaar.client import BudgetLimits, PolicyRequest, RecordFilter, open_sync_records_client
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import AnswerRequest, GenerateRequest, Passage
from scaar.database.migration import open_checked_database
from scaar.query_builder.local import LocalQueryBuilder
from scaar.records.store.schema import SCHEMA
from scaar.testing.answer_records import record_answers
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator, ScriptedScorer

from .conftest import Recorded
from .test_pages import TABLE_WIDTHS

SENTENCES, WORDS = 50, 20
TEXT = "".join(
    " " + " ".join(f"Word{sentence}x{at}" for at in range(WORDS - 1)) + " end."
    for sentence in range(SENTENCES)
)
REQUEST = AnswerRequest(
    "What are a thousand words?",
    PolicyRequest("scaar"),
    budget=BudgetLimits(max_sentences=SENTENCES, max_tokens=8192),
    request_id="thousand-words",
)
MAX_BYTES = 800_000
MAX_TRANSFERRED_BYTES = 200_000
MAX_ELEMENTS_PER_WORD = 20
"""Elements of the words, of their table and of the rest of the page."""


def _script(request: GenerateRequest) -> list[Piece]:
    rest = TEXT.removeprefix(request.prefix)
    return [(f" {word}", -0.01) for word in rest.split(" ")[1:]]


async def _record(home: Path) -> None:
    index = InMemoryRetriever({"lab": [Passage("p1", "Words", "word1 word2")]})
    ports = Ports(ScriptedGenerator(_script), ScriptedScorer({}), LocalQueryBuilder(), index)
    url = f"sqlite:///{home / 'records.sqlite'}"
    async with open_checked_database(url, SCHEMA) as database:
        await record_answers(database, AdaptiveLoop(ports, default_index="lab"), REQUEST)


@pytest.fixture(scope="module")
def path(recorded: Recorded, home: Path) -> str:
    """The page of an answer of 1,000 words."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _record(home)).result()
    with open_sync_records_client(recorded.records) as records:
        (found,) = records.summaries(RecordFilter(request_id=REQUEST.request_id))
    assert found.judged_drafts == SENTENCES, found
    return f"/answers/{found.id}"


def test_the_page_of_a_thousand_words_is_bounded_and_fits(page: Page, path: str) -> None:
    response = page.goto(path)
    assert response is not None
    assert len(response.body()) < MAX_BYTES
    assert response.headers["content-encoding"] == "gzip"
    sizes = response.request.sizes()
    assert sizes["responseBodySize"] < MAX_TRANSFERRED_BYTES
    assert page.locator(".word").count() == SENTENCES * WORDS
    elements = page.evaluate("document.querySelectorAll('main *').length")
    assert elements < MAX_ELEMENTS_PER_WORD * SENTENCES * WORDS
    for width in TABLE_WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".words .tip[tabindex='0']").count() == SENTENCES
