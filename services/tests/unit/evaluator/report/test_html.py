import re
from html.parser import HTMLParser

import pytest

from scaar.evaluator.report.html import to_html
from scaar.evaluator.report.model import (
    Bars,
    Cell,
    Column,
    Fact,
    Figure,
    Point,
    Report,
    Section,
    Series,
    Table,
    Verdict,
)

HOSTILE = "<script>alert('x')</script> & \"q\""
EMPTY = ("meta", "wbr")
LABEL = "scaar:weighting=surprisal,query=current_sentence"


class _Page(HTMLParser):
    """The elements of a page; fails if one is not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


FIGURE = Figure(
    "scores",
    HOSTILE,
    "cost",
    HOSTILE,
    (Series(HOSTILE, (Point(0, 0.5, y_range=(0.4, 0.6)), Point(1, 0.7)), ((0, 0.5), (1, 0.7))),),
    alternative=HOSTILE,
    note=HOSTILE,
)
TABLE = Table(
    "table",
    HOSTILE,
    (
        Column("name", HOSTILE),
        Column("f1", "F1", decimals=2, pinned=True),
        Column("d", "d", 1, signed=True),
    ),
    (
        (Cell(HOSTILE), Cell(0.5, 0.25, 0.75), Cell(None, note="not reached")),
        (Cell(LABEL), Cell(0.75, note="best of row", best=True, link="questions"), Cell(-0.04)),
    ),
    note=HOSTILE,
)
LISTING = Table("questions", HOSTILE, (Column("question", HOSTILE),), ((Cell(HOSTILE),),))
REPORT = Report(
    HOSTILE,
    HOSTILE,
    (
        Section(HOSTILE, (HOSTILE, TABLE, FIGURE)),
        Section("Second", ("Warning: few.", Bars("bars", "Bars", "n", ((HOSTILE, 3.0),), "three"))),
    ),
    Verdict(HOSTILE, (Fact(HOSTILE, HOSTILE, HOSTILE),), HOSTILE),
    (LISTING,),
)


@pytest.fixture(scope="module")
def page() -> _Page:
    return _Page(to_html(REPORT))


def test_every_element_is_closed(page: _Page) -> None:
    assert page.open == []


def test_texts_are_escaped(page: _Page) -> None:
    assert "script" not in {tag for tag, _ in page.elements}
    assert page.text.count(HOSTILE) >= 10


def test_the_page_needs_nothing_else() -> None:
    written = to_html(REPORT)
    assert not re.findall(r"(?:src|href)=\"(?!#)", written)
    assert "@import" not in written
    assert "url(" not in written
    assert set(re.findall(r"https?://[^\"]+", written)) == {"http://www.w3.org/2000/svg"}


def test_ids_are_unique_and_every_reference_has_a_target(page: _Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for name in (attributes.get("aria-labelledby") or "").split():
            assert name in ids
        target = attributes.get("href")
        assert target is None or target.removeprefix("#") in ids


def test_figures_have_a_title_and_a_description_in_words(page: _Page) -> None:
    tags = [tag for tag, _ in page.elements]
    assert tags.count("svg") == tags.count("desc") == 2 * tags.count("details") == 4
    drawn = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert {attributes["role"] for attributes in drawn} == {"img"}


def test_rows_and_columns_of_tables_have_heads(page: _Page) -> None:
    scopes = [attributes.get("scope") for tag, attributes in page.elements if tag == "th"]
    assert (scopes.count("col"), scopes.count("row")) == (4, 3)


def test_a_long_label_may_break_and_reads_the_same(page: _Page) -> None:
    assert LABEL in page.text
    assert "scaar:<wbr>weighting=surprisal,<wbr>query=current_<wbr>sentence" in to_html(REPORT)


def test_values_have_their_intervals_and_notes(page: _Page) -> None:
    for written in ("0.50 [0.25, 0.75]", "0.75 best of row", "not reached"):
        assert written in " ".join(page.text.split())
    # -0.04 to one decimal is 0, and 0 has no sign.
    assert "-0.0" not in page.text


def test_the_verdict_is_before_the_list_of_sections() -> None:
    written = to_html(REPORT)
    assert written.index('class="verdict"') < written.index("<nav")
    assert 'class="verdict"' not in to_html(Report("T", "s", ()))


def test_a_value_links_to_its_listing_and_the_best_is_marked() -> None:
    written = to_html(REPORT)
    assert '<strong class="best"><a href="#questions">0.75</a></strong>' in written
    assert '<section class="listing" id="questions">' in written
    without = to_html(Report("T", "s", REPORT.sections))
    assert 'href="#questions"' not in without


def test_the_pinned_column_stays_in_view_on_a_phone() -> None:
    written = to_html(REPORT)
    assert '<th scope="col" class="n pin">F1</th>' in written
    assert ".pin{position:sticky" in written
    assert "th:first-child{position:sticky" in written


def test_two_narrow_blocks_share_a_row_of_a_wide_page() -> None:
    pair = Section("S", (TABLE, FIGURE, "a", "b", FIGURE))
    written = to_html(Report("T", "s", (pair,)))
    assert re.findall(r'<div class="(half|wide|prose)">', written) == [
        *("half", "half", "wide", "prose", "wide")
    ]
