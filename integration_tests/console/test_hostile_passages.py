"""Passages with markup, scripts, other directions, zero-width characters and long words."""

import pytest
from playwright.sync_api import Page, expect

from .conftest import HOSTILE_PASSAGES, Recorded

MARKUP, LONG = HOSTILE_PASSAGES
RUNNABLE = "main :is(img, script, iframe, object, embed, style, link, base, [onerror], [onclick])"
URLS = "[...document.querySelectorAll('[href], [src]')].map((each) => each.href || each.src)"
PLACES = ("/answers/{passages}", "/indexes?q=Zanzibar&index=hostile")


@pytest.mark.parametrize("place", PLACES)
def test_hostile_passages_are_shown_as_text_and_never_run(
    page: Page, recorded: Recorded, place: str
) -> None:
    page.goto(path := place.format(**recorded.ids))
    content = page.locator("main").text_content() or ""
    # The sample search shows the start of a text.
    shown = None if place.startswith("/answers") else 150
    for passage in HOSTILE_PASSAGES:
        assert str(passage["id"]) in content
        for name in ("title", "text"):
            assert str(passage[name])[:shown] in content
    assert page.locator(RUNNABLE).count() == 0
    urls = page.evaluate(URLS)
    assert len(urls) > 0
    assert [each for each in urls if not each.startswith(recorded.url)] == []
    assert page.title() not in ("1", "run"), path


def test_hostile_passages_of_a_live_answer_are_shown_as_text(page: Page) -> None:
    page.goto("/?question=Where+is+Zanzibar&policy=single_round&index=hostile")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("link", name="The record of this answer")).to_be_visible(timeout=30_000)
    assert str(MARKUP["text"]) in (page.locator(".passages").text_content() or "")
    assert page.locator(RUNNABLE).count() == 0
    assert page.title() == "Ask - scaar"


def test_the_direction_of_a_passage_ends_with_it(page: Page, recorded: Recorded) -> None:
    """Every text of a passage is in an element that isolates its direction."""
    page.goto(f"/answers/{recorded.ids['passages']}")
    found = page.evaluate(
        """() => {
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          const found = [];
          while (walker.nextNode()) {
            if (!walker.currentNode.data.includes("\\u202e")) continue;
            const isolated = walker.currentNode.parentElement.closest("bdi");
            found.push(getComputedStyle(isolated ?? document.body).unicodeBidi);
          }
          return found;
        }"""
    )
    assert len(found) >= 2
    assert set(found) == {"isolate"}
