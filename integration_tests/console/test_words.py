"""The words of a draft for the keyboard and for screen readers."""

import re

import pytest
from playwright.sync_api import Page, expect

from .conftest import Recorded


@pytest.mark.parametrize("policy", ["scaar", "tuned", "dragin"])
def test_a_screen_reader_gets_every_word_with_its_state_and_numbers(
    page: Page, recorded: Recorded, policy: str
) -> None:
    page.goto(f"/answers/{recorded.ids[policy]}")
    drafts = page.get_by_role("list", name=re.compile("^Words of the draft of sentence "))
    assert drafts.count() >= 1
    for draft in drafts.all():
        words = draft.locator(".tip").all()
        uncertain = draft.locator(".uncertain, .trigger").count()
        items = re.findall(r"- listitem: (.+)", draft.aria_snapshot())
        assert len(items) == len(words)
        for item, word in zip(items, words, strict=True):
            assert word.locator("bdi").first.inner_text() in item
            expect(word).to_have_accessible_description(re.compile(r"\d"))
        assert sum("(uncertain)" in each or "(trigger)" in each for each in items) == uncertain


def test_the_numbers_of_the_words_are_a_table(page: Page, recorded: Recorded) -> None:
    page.goto(f"/answers/{recorded.ids['scaar']}")
    words = page.locator(".words").first.locator(".tip").count()
    page.get_by_text("The numbers of the words as a table").first.click()
    table = page.get_by_role("table", name="Numbers of the words of sentence 1").first
    assert table.get_by_role("row").count() == words + 1
    assert re.search(r'- row ".+ P′ \d', table.aria_snapshot())


def test_a_draft_is_one_stop_of_the_tab_key_and_arrows_move_between_its_words(
    page: Page, recorded: Recorded
) -> None:
    page.goto(f"/answers/{recorded.ids['scaar']}")
    groups = page.locator(".words").count()
    assert page.locator(".words .tip[tabindex='0']").count() == groups
    draft = page.locator(".words").first
    tips = draft.locator(".tip")
    tips.first.focus()
    expect(tips.first.get_by_role("tooltip")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(tips.nth(1)).to_be_focused()
    expect(tips.nth(1).get_by_role("tooltip")).to_be_visible()
    expect(tips.first.get_by_role("tooltip")).to_be_hidden()
    page.keyboard.press("End")
    expect(tips.last).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(tips.last).to_be_focused()
    page.keyboard.press("Home")
    expect(tips.first).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    assert draft.locator(":focus").count() == 0
    page.keyboard.press("Shift+Tab")
    expect(tips.nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(tips.nth(1).get_by_role("tooltip")).to_be_hidden()
    assert page.locator(".words .tip[tabindex='0']").count() == groups


def test_the_words_of_a_live_answer_are_described_too(page: Page) -> None:
    page.goto("/?question=When+was+the+film+The+Haunted+Fountain+released%3F&policy=flare")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("link", name="The record of this answer")).to_be_visible(timeout=30_000)
    first = page.locator("#live .words .tip").first
    expect(first).to_have_accessible_description(re.compile(r"\d"))
    ids = page.locator("#live [id]").evaluate_all("(all) => all.map((each) => each.id)")
    assert len(ids) == len(set(ids))
    assert page.locator("#live .words .tip[tabindex='0']").count() == page.locator(".words").count()
