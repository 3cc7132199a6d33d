from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from scaar.evaluator.report.markdown import to_markdown
from scaar.evaluator.report.model import (
    Bars,
    Cell,
    Column,
    Fact,
    Report,
    Section,
    Table,
    Verdict,
)

COLUMNS = (Column("name", "name"), Column("f1", "F1", decimals=3), Column("note", "note"))
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Z")), min_size=1)


def _read(report: Report) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(to_markdown(report))


def _cells(tokens: list[Token]) -> list[str]:
    return [
        "".join(child.content for child in tokens[at + 1].children or ())
        for at, token in enumerate(tokens)
        if token.type in ("td_open", "th_open")
    ]


@given(TEXTS, TEXTS)
def test_a_table_survives_markdown(name: str, note: str) -> None:
    row = (Cell(name), Cell(0.5, 0.4, 0.61), Cell(note))
    tokens = _read(Report("T", "s", (Section("S", (Table("t", "t", COLUMNS, (row,)),)),)))
    assert _cells(tokens) == ["name", "F1", "note", name, "0.500 [0.400,\u00a00.610]", note]


def test_sections_and_paragraphs_keep_their_order() -> None:
    report = Report("T", "s", (Section("One", ("a", "b")), Section("Two", ("c",))))
    tokens = [token.content for token in _read(report) if token.type == "inline"]
    assert tokens == ["T", "s", "One", "a", "b", "Two", "c"]


def test_a_figure_is_an_image_with_its_text_alternative() -> None:
    bars = Bars("wins", "Wins", "won", (("a", 1.0),), alternative="Won: a_b [1].")
    tokens = _read(Report("T", "s", (Section("S", (bars,)),)))
    (image,) = [
        child for token in tokens for child in token.children or () if child.type == "image"
    ]
    assert image.attrs["src"] == "figures/wins.svg"
    assert image.content == "Won: a_b [1]."


def test_a_table_without_rows_is_its_title_and_note() -> None:
    table = Table("t", "Areas", COLUMNS, (), note="There are none.")
    tokens = [t.content for t in _read(Report("T", "s", (Section("S", (table,)),))) if t.content]
    assert tokens == ["T", "s", "S", "**Areas**", "There are none."]


def test_the_verdict_comes_first_and_the_best_value_is_bold() -> None:
    row = (Cell("scaar"), Cell(0.5, 0.4, 0.61, best=True), Cell("n"))
    verdict = Verdict("scaar has the highest score.", (Fact("F1", "0.5"),), "Few questions.")
    table = Table("t", "t", COLUMNS, (row,))
    report = Report("T", "s", (Section("S", (table,)),), verdict)
    texts = [token.content for token in _read(report) if token.type == "inline"]
    assert texts[:4] == ["T", "s", "**scaar has the highest score.**", "Few questions."]
    assert "| **0.500** [0.400,\u00a00.610] |" in to_markdown(report)
