"""The page of a record and its figures, made of its folders alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from record.kept import Kept, read_kept
from record.plan import SHARED
from record.sections import ORIGIN, PARTS, Part, Shown
from scaar.evaluator.report.markdown import item_to_markdown
from scaar.evaluator.report.model import Bars, Figure, Item, Table
from scaar.evaluator.report.writing import drawn_alone
from scaar.evaluator.store.files import unwritable, write_whole

WHY = "why.md"


@dataclass(frozen=True, slots=True)
class Page:
    """A page: how it begins, its parts, and what is told last, of how it was made.

    ``name`` is that of its file and of the folder of its figures beside it, which may hold a
    hand-written ``why.md``.
    """

    name: str
    head: str
    parts: tuple[Part, ...]
    origin: Part


_HEAD = """\
<!-- Made by make results of saved predictions. What is written by hand is results/why.md. -->
# Results

Every number and every sentence between a command and the next heading is computed from saved
predictions; `make results` makes them and this page anew. [Evaluations](evaluations.md) says how
policies are compared, [lab](lab.md) what the world and its models are. Commands are typed in the
project's folder."""
RESULTS = Page("results", _HEAD, PARTS, ORIGIN)


def write_page(root: Path, docs: Path, page: Page = RESULTS) -> Path:
    """Writes the page, which it gives back, and its figures, in the place of an earlier one's.

    Raises:
        NotFound: there is no record.
        InvalidRequest: an evaluation of it has not come to its end, or two cannot be joined.
        DataCorrupt: naming the folder and the file that does not hold together.
        ScaarError: a file cannot be written.
    """
    kept = read_kept(root)
    figures: dict[str, str] = {}
    folder = docs / page.name
    lines = [page.head]
    for part in page.parts:
        lines += _part(part, kept, figures, page.name)
    lines += _why(folder)
    lines += _part(page.origin, kept, figures, page.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    for name, drawn in figures.items():
        write_whole(folder / name, drawn.encode())
    written = docs / f"{page.name}.md"
    write_whole(written, ("\n\n".join(lines) + "\n").encode())
    for path in folder.glob("*.svg"):
        if path.name not in figures:
            path.unlink()
    return written


def _part(part: Part, kept: Sequence[Kept], figures: dict[str, str], beside: str) -> Iterator[str]:
    """The part as Markdown, its figures added to the others; nothing where it was not run."""
    mine = part.among(kept)
    if not mine:
        return
    shown = _renamed(part, part.show([each.folder for each in mine]))
    if any(SHARED in each.command for each in mine):
        shown = _without_times(shown)
    for item in (*shown.full, *shown.folded):
        if isinstance(item, Figure | Bars):
            figures[f"{item.name}.svg"] = drawn_alone(item)
    yield f"## {part.title}"
    yield part.what
    commands = "\n".join(each.command for each in mine)
    yield f"```sh\n{commands}\n```"
    if shown.told:
        yield "\n".join(f"- {told}" for told in shown.told)
    for item in shown.full:
        if isinstance(item, Figure | Bars):
            yield f"**{item.title}**"
        yield item_to_markdown(item, figures=beside)
    for item in shown.folded:
        title = item.title if isinstance(item, Table | Figure | Bars) else "More"
        inside = item_to_markdown(item, figures=beside, titled=False)
        yield f"<details><summary>{escape(title)}</summary>\n\n{inside}\n\n</details>"


def _without_times(shown: Shown) -> Shown:
    """What is shown, without the times of answers whose settings shared what they asked."""

    def told(item: Item) -> Item:
        if not isinstance(item, Table):
            return item
        kept = [at for at, column in enumerate(item.columns) if column.name != "latency_ms"]
        return replace(
            item,
            columns=tuple(item.columns[at] for at in kept),
            rows=tuple(tuple(cells[at] for at in kept) for cells in item.rows),
        )

    return replace(
        shown,
        full=tuple(told(item) for item in shown.full),
        folded=tuple(told(item) for item in shown.folded),
    )


def _renamed(part: Part, shown: Shown) -> Shown:
    """What is shown, its figures named by their part: figures of two parts may be namesakes."""

    def named(item: Item) -> Item:
        if isinstance(item, Figure | Bars):
            return replace(item, name=f"{part.stem}-{item.name}")
        return item

    return replace(
        shown,
        full=tuple(named(each) for each in shown.full),
        folded=tuple(named(each) for each in shown.folded),
    )


def _why(folder: Path) -> list[str]:
    """What is written by hand, where anything is."""
    path = folder / WHY
    if not path.exists():
        return []
    return ["## Why", path.read_text(encoding="utf-8").strip()]
