import pytest

from scaar.retriever.documents.document import Block, Document, DocumentUnreadable, ReadingLimits
from scaar.retriever.documents.readers import READERS, read_document

from .made_files import make_docx, make_pdf, with_part

BODY = "word/document.xml"


def read(suffix: str, content: str | bytes, **limits: float) -> Document:
    content = content.encode() if isinstance(content, str) else content
    return read_document(suffix, content, ReadingLimits(**limits))  # type: ignore[arg-type]


def test_markdown_has_blocks_under_its_headings() -> None:
    found = read(
        ".md",
        "# Guide\n\nOne *two*\n`three`.\n\n## Part\n\n- a\n- b\n\n```sh\n# no heading\n```\n"
        "\n## Table\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n\n<div>raw <b>text</b></div>\n",
    )
    assert found.title == "Guide"
    assert found.blocks == (
        Block("One two\nthree.", ("Guide",)),
        Block("a", ("Guide", "Part")),
        Block("b", ("Guide", "Part")),
        Block("# no heading\n", ("Guide", "Part")),
        Block("x | y", ("Guide", "Table")),
        Block("1 | 2", ("Guide", "Table")),
        Block("raw text", ("Guide", "Table")),
    )


def test_front_matter_states_title_and_url() -> None:
    found = read(".md", "---\ntitle: Leave\nurl: https://a.example/leave\n---\nThirty days.")
    assert (found.title, found.url) == ("Leave", "https://a.example/leave")
    assert found.blocks == (Block("Thirty days."),)


@pytest.mark.parametrize("text", ["---\nno end", "---\n- [\n---\nrest", "---\nprose\n---\nrest"])
def test_text_that_only_resembles_front_matter_is_kept(text: str) -> None:
    found = read(".md", text)
    assert found.title == ""
    assert found.blocks


def test_headings_without_text_below_them_are_blocks() -> None:
    found = read(".md", "# Guide\n## Empty\n## Last")
    assert [each.text for each in found.blocks] == ["Empty", "Last"]


def test_html_has_the_text_of_its_main_part() -> None:
    found = read(
        ".html",
        """<html><head><title>Site: Etna</title><link rel="canonical" href="https://a.example/e">
        <style>p {}</style></head><body><nav>Home</nav><main><h1>Etna</h1>
        <p>Etna is a <b>vol</b>cano<br>in Italy.</p><script>no()</script><!-- no -->
        <h2>Facts</h2><ul><li>Height<li>Age</ul><table><tr><th>m<td>3,357</table></main>
        <footer>Imprint</footer></body></html>""",
    )
    assert (found.title, found.url) == ("Site: Etna", "https://a.example/e")
    texts = [(" ".join(each.text.split()), each.headings) for each in found.blocks]
    assert texts == [
        ("Etna is a volcano in Italy.", ("Etna",)),
        ("Height", ("Etna", "Facts")),
        ("Age", ("Etna", "Facts")),
        ("m | 3,357", ("Etna", "Facts")),
    ]


def test_headings_of_html_are_without_the_marks_of_their_links() -> None:
    found = read(
        ".html",
        """<h1><a href="/c#">C#</a> and §5 <a class="headerlink" href="#c">\u00b6</a></h1>
        <h2><a href="#old">§</a> Old</h2><p>Text</p>""",
    )
    assert found.blocks == (Block("Text", ("C# and §5", "Old")),)


def test_deep_html_is_read() -> None:
    found = read(".html", "<div>" * 20_000 + "deep")
    assert "".join(each.text for each in found.blocks) == "deep"


def test_plain_text_is_split_at_blank_lines() -> None:
    found = read(".txt", b"\xef\xbb\xbfone\r\ntwo\r\n\r\nthree")
    assert [each.text for each in found.blocks] == ["one\ntwo", "three"]


def test_a_pdf_has_blocks_on_pages() -> None:
    content = make_pdf(["Etna is a vol-\ncano.", "Fuji is in Japan."], title="Volcanoes")
    found = read(".pdf", content)
    assert found.title == "Volcanoes"
    assert [(each.text.strip(), each.page) for each in found.blocks] == [
        ("Etna is a volcano.", 1),
        ("Fuji is in Japan.", 2),
    ]


def test_a_docx_has_headings_and_tables() -> None:
    found = read(".docx", make_docx(title="Atlas"))
    assert found.title == "Atlas"
    assert found.blocks == (
        Block("Etna is a volcano in Italy.", ("Mountains",)),
        Block("Fuji | 3,776 m", ("Mountains", "Heights")),
    )


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file_is_refused(suffix: str, content: bytes) -> None:
    with pytest.raises(DocumentUnreadable, match="is empty"):
        read(suffix, content)


@pytest.mark.parametrize("suffix", [".md", ".html", ".txt"])
def test_text_in_another_encoding_is_refused(suffix: str) -> None:
    with pytest.raises(DocumentUnreadable, match="not UTF-8 at byte 3"):
        read(suffix, "Zoë".encode("latin-1").replace(b"o", b"oo"))


@pytest.mark.parametrize("suffix", [".pdf", ".docx"])
def test_a_damaged_file_is_refused(suffix: str) -> None:
    whole = make_pdf(["text"]) if suffix == ".pdf" else make_docx()
    for content in (b"not at all", whole[: len(whole) // 3]):
        with pytest.raises(DocumentUnreadable):
            read(suffix, content)


def test_an_encrypted_pdf_is_refused() -> None:
    with pytest.raises(DocumentUnreadable, match="is encrypted: remove the password"):
        read(".pdf", make_pdf(["secret"], password="x"))


def test_a_pdf_without_text_is_refused() -> None:
    with pytest.raises(DocumentUnreadable, match="has no text"):
        read(".pdf", make_pdf([""]))


def test_a_pdf_with_too_many_pages_is_refused() -> None:
    with pytest.raises(DocumentUnreadable, match="has 3 pages, at most 2 are read"):
        read(".pdf", make_pdf(["a", "b", "c"]), pages=2)


def test_more_text_than_the_limit_is_refused() -> None:
    with pytest.raises(DocumentUnreadable, match="has more than 1e-05 MB of text"):
        read(".md", "a text of more characters", unpacked_bytes=10)


def test_a_zip_bomb_is_refused() -> None:
    bomb = with_part(make_docx(), BODY, b" " * 50_000_000)
    assert len(bomb) < 200_000
    with pytest.raises(DocumentUnreadable, match="zip bomb"):
        read(".docx", bomb, unpacked_bytes=10_000_000)


def test_a_zip_bomb_that_states_a_small_size_is_refused() -> None:
    bomb = with_part(make_docx(), BODY, b" " * 50_000_000)
    stated = bomb.replace((50_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    assert stated != bomb
    with pytest.raises(DocumentUnreadable):
        read(".docx", stated, unpacked_bytes=10_000_000)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_docx_that_declares_entities_is_refused(encoding: str) -> None:
    xml = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    with pytest.raises(DocumentUnreadable, match="entities"):
        read(".docx", with_part(make_docx(), BODY, xml.encode(encoding)))
