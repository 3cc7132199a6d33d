"""Reader of Markdown: CommonMark with tables, and front matter with ``title`` and ``url``."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scaar.core.distributions import library_required
from scaar.retriever.documents.document import Document, DocumentBuilder, ReadingLimits
from scaar.retriever.documents.html import text_of_html
from scaar.retriever.documents.text import decode

if TYPE_CHECKING:
    from markdown_it.token import Token

_FENCE, _ENDS = "---", ("---", "...")
_CELL = " | "


def read_markdown(content: bytes, limits: ReadingLimits) -> Document:
    """Return the sections of a Markdown text."""
    with library_required("reading Markdown", "documents"):
        from markdown_it import MarkdownIt

    facts, text = _without_front_matter(decode(content))
    builder = DocumentBuilder()
    _add(builder, MarkdownIt("commonmark").enable("table").parse(text))
    return builder.document(facts.get("title", ""), facts.get("url", ""))


def _add(builder: DocumentBuilder, tokens: Sequence["Token"]) -> None:
    level, cells = 0, list[str]()
    in_row = False
    for token in tokens:
        match token.type:
            case "heading_open":
                level = int(token.tag[1:])
            case "heading_close":
                level = 0
            case "tr_open":
                in_row, cells = True, []
            case "tr_close":
                in_row = False
                builder.block(_CELL.join(cells))
            case "inline" if level:
                builder.heading(level, _inline_text(token))
            case "inline" if in_row:
                cells.append(_inline_text(token))
            case "inline":
                builder.block(_inline_text(token))
            case "fence" | "code_block":
                builder.block(token.content)
            case "html_block":
                builder.block(text_of_html(token.content))


def _inline_text(token: "Token") -> str:
    return "".join(_parts(token.children or ()))


def _parts(tokens: Sequence["Token"]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "softbreak" | "hardbreak":
                yield "\n"
            case "image":
                yield from _parts(token.children or ())
            case "html_inline":
                continue
            case _:
                yield token.content


def _without_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return title and url of the front matter, and the text after it."""
    import yaml

    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return {}, text
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in _ENDS), None)
    if end is None:
        return {}, text
    try:
        found = yaml.safe_load("\n".join(lines[1:end]))
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, text
    if not isinstance(found, dict):
        # A text between two thematic breaks.
        return {}, text
    facts = {name: value for name in ("title", "url") if isinstance(value := found.get(name), str)}
    return facts, "\n".join(lines[end + 1 :])
