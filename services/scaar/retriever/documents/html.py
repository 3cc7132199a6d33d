"""Reader of HTML: headings, paragraphs, lists and tables of its main part."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scaar.core.distributions import library_required
from scaar.retriever.documents.document import Document, DocumentBuilder, ReadingLimits
from scaar.retriever.documents.text import decode

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LEFT_OUT = frozenset(
    "script style template noscript svg math iframe object canvas nav button select head".split()
)
_INLINE = frozenset(
    "a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp "
    "small span strong sub sup time tt u var wbr img".split()
)
_CELLS = frozenset({"td", "th"})
_ENTER, _LEAVE = True, False


def read_html(content: bytes, limits: ReadingLimits) -> Document:
    """Return the sections of an HTML page; of its ``main`` or only ``article``, if it has one."""
    tree = _parse(decode(content))
    builder = DocumentBuilder()
    title = tree.css_first("title")
    canonical = tree.css_first("link[rel=canonical]")
    root = tree.css_first("main") or _only_article(tree) or tree.body
    if root is not None:
        _add(builder, root)
    url = (canonical.attributes.get("href") or "") if canonical is not None else ""
    return builder.document(title.text() if title is not None else "", url)


def text_of_html(fragment: str) -> str:
    """Return the text of a piece of HTML, without comments, scripts and styles."""
    body = _parse(fragment).body
    if body is None:
        return ""
    builder = DocumentBuilder()
    _add(builder, body)
    found = builder.document()
    return "\n".join(each.text for each in found.blocks)


def _parse(text: str) -> "LexborHTMLParser":
    with library_required("reading HTML", "documents"):
        from selectolax.lexbor import LexborHTMLParser

    return LexborHTMLParser(text)


def _only_article(tree: "LexborHTMLParser") -> "LexborNode | None":
    found = tree.css("article")
    return found[0] if len(found) == 1 else None


def _add(builder: DocumentBuilder, root: "LexborNode") -> None:
    level = 0
    pieces: list[str] = []

    def flush() -> None:
        text = "".join(pieces)
        pieces.clear()
        if level:
            builder.heading(level, text)
        else:
            builder.block(text)

    for node, enters in _walk(root):
        tag = node.tag or ""
        if tag == "-text":
            if enters and not (level and _is_link_mark(node)):
                pieces.append(node.text_content or "")
        elif tag == "br":
            pieces.append("\n")
        elif tag in _CELLS:
            if enters and "".join(pieces).strip():
                pieces.append(" | ")
        elif tag in _HEADINGS:
            if enters:
                flush()
                level = _HEADINGS[tag]
            else:
                flush()
                level = 0
        elif tag not in _INLINE and not level:
            flush()
    flush()


def _is_link_mark(node: "LexborNode") -> bool:
    """Return whether a text of a heading is the mark of the link to the heading, such as ¶."""
    linked = node.parent is not None and node.parent.tag == "a"
    return linked and not any(map(str.isalnum, node.text_content or ""))


def _walk(root: "LexborNode") -> Iterator[tuple["LexborNode", bool]]:
    """Yield every node where it begins and where it ends, without recursion: pages may be deep."""
    pending: list[tuple[LexborNode, bool]] = [(root, _ENTER)]
    while pending:
        node, enters = pending.pop()
        if enters and (node.tag in _LEFT_OUT or node.tag == "_comment"):
            continue
        yield node, enters
        if not enters:
            continue
        pending.append((node, _LEAVE))
        children = []
        child = node.first_child
        while child is not None:
            children.append(child)
            child = child.next
        pending += [(each, _ENTER) for each in reversed(children)]
