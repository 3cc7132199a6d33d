"""The page of a record and its figures, made from its folders alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from record.evaluations import FinishedEvaluation, read_evaluations
from record.sections import ORIGIN, PARTS, Part, PartContent, without_columns
from record.steps import SHARED
from scaar.evaluator.report.markdown import item_to_markdown
from scaar.evaluator.report.model import Bars, Figure, Item, Table
from scaar.evaluator.report.writer import drawn_alone
from scaar.evaluator.store.files import make_folder, write_texts, write_whole

WHY, OUTDATED = "why.md", "outdated.md"


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its head, its parts, and the last part, which states the origin of its figures.

    ``name`` names its file and the folder of its figures, which may hold a hand-written ``why.md``,
    and ``outdated.md``, which states at the start of the page which of its rows are out of date.
    """

    name: str
    head: str
    parts: tuple[Part, ...]
    origin: Part


_HEAD = """\
<!-- Made by make results from saved predictions; results/why.md is written by hand. -->
# Results

Every number and every sentence between a command and the next heading is computed from saved \
predictions.
`make results` computes the predictions and writes this page.
[Evaluations](evaluations.md) describes how policies are compared, [lab](lab.md) the world and \
its models; [queries](queries.md) has the results on real English drafts, and \
[free words](free-words.md) those of two models whose sentences vary more.
Run the commands in the project's folder."""
RESULTS = Page("results", _HEAD, PARTS, ORIGIN)


def write_page(root: Path, docs: Path, page: Page = RESULTS) -> Path:
    """Write the page and its figures over earlier ones; return the path of the page.

    Raises:
        NotFound: there is no record.
        InvalidRequest: an evaluation is unfinished, or two cannot be joined.
        DataCorrupt: a file is damaged; names the folder and the file.
        ScaarError: a file cannot be written.
    """
    finished = read_evaluations(root)
    figures: dict[str, str] = {}
    folder = docs / page.name
    lines = [page.head, *_by_hand(folder / OUTDATED)]
    for part in page.parts:
        lines += _part(part, finished, figures, page.name)
    if why := _by_hand(folder / WHY):
        lines += ["## Why", *why]
    lines += _part(page.origin, finished, figures, page.name)
    make_folder(folder)
    write_texts(folder, figures)
    written = docs / f"{page.name}.md"
    write_whole(written, ("\n\n".join(lines) + "\n").encode())
    for path in folder.glob("*.svg"):
        if path.name not in figures:
            path.unlink()
    return written


def _part(
    part: Part, finished: Sequence[FinishedEvaluation], figures: dict[str, str], folder: str
) -> Iterator[str]:
    """Yield the part as Markdown and add its figures; yield nothing if it was not run."""
    own = part.among(finished)
    if not own:
        return
    content = _with_stem(part, part.content([each.folder for each in own]))
    if any(SHARED in each.command for each in own):
        content = without_columns(content, {"latency_ms"})
    for item in (*content.full, *content.folded):
        if isinstance(item, Figure | Bars):
            figures[f"{item.name}.svg"] = drawn_alone(item)
    yield f"## {part.title}"
    yield part.description
    if part.commands:
        commands = "\n".join(each.command for each in own)
        yield f"```sh\n{commands}\n```"
    if content.sentences:
        yield "\n".join(f"- {each}" for each in content.sentences)
    for item in content.full:
        if isinstance(item, Figure | Bars):
            yield f"**{item.title}**"
        yield item_to_markdown(item, figures=folder)
    for item in content.folded:
        title = item.title if isinstance(item, Table | Figure | Bars) else "More"
        inside = item_to_markdown(item, figures=folder, titled=False)
        yield f"<details><summary>{escape(title)}</summary>\n\n{inside}\n\n</details>"


def _with_stem(part: Part, content: PartContent) -> PartContent:
    """Prefix the names of figures with that of their part: two parts may use the same name."""

    def named(item: Item) -> Item:
        if isinstance(item, Figure | Bars):
            return replace(item, name=f"{part.stem}-{item.name}")
        return item

    return replace(
        content,
        full=tuple(named(each) for each in content.full),
        folded=tuple(named(each) for each in content.folded),
    )


def _by_hand(path: Path) -> list[str]:
    """Return the text that is written by hand, if there is one."""
    return [path.read_text(encoding="utf-8").strip()] if path.exists() else []
