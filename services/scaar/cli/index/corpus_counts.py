"""``scaar corpus count`` and ``scaar corpus lookup``: counts of entities in a corpus."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from scaar.cli.notes import print_notes
from scaar.cli.output_file import new_file
from scaar.cli.tables import Format, facts_table, print_table
from scaar.core.distributions import lab_required
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.plurals import counted
from scaar.core.text.entities import WINDOW
from scaar.corpus_counts.counts import open_corpus_counts
from scaar.corpus_counts.writer import CountsWriter
from scaar.retriever.corpus.corpus import CorpusFile

MAX_WINDOW = 1_000_000
_SHOWN_EVERY = 100

Parts = tuple[str, ...]
"""The parts of one text, such as its title and its body."""


def count(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Files of texts, in the layouts of `scaar index build`: JSON lines {"
            '"id", "title", "text"} or .tsv, plain or gzip. The best corpus is the text '
            "that the model was trained on.",
        ),
    ] = None,
    *,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="File for the counts. It must not exist.")
    ],
    lab: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Count the text that a model of the lab was trained on, such as lab-lm, which is "
            "generated again in some minutes.",
        ),
    ] = None,
) -> None:
    """Count the words of a corpus for the policy quco.

    The file has the positions of all words, in 4 bytes each. Counting takes up
    to twice as much memory.
    """
    if not paths and lab is None:
        raise InvalidRequest.of("PATH", "name a file of texts, or a model of the lab with --lab")
    sources = [_texts_of(path) for path in paths or ()]
    if lab is not None:
        sources.append(_training_text(lab))
    if out.exists():
        raise InvalidRequest.of("--out", f"{out} already exists")
    counts = CountsWriter()
    _add(counts, sources)
    with new_file(out) as file:
        digest = counts.write(file)
    print(
        f"{out}: {counted(counts.words, 'word')}, {counts.vocabulary:,} different, in "
        f"{counted(counts.texts, 'text')}, sha256 {digest}"
    )
    print_notes(f"SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE={out}")


def lookup(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File written by `scaar corpus count`.")
    ],
    entity: Annotated[
        str, typer.Argument(metavar="ENTITY", help="Name, date or number, of any words.")
    ],
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="[ENTITY2]", help="Entity to look for in the same texts within the window."
        ),
    ] = None,
    window: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Maximum distance of the first words of the two entities, 1 to 1,000,000.",
        ),
    ] = WINDOW,
    output: Format = None,
) -> None:
    """Show how often one or two entities occur in a corpus."""
    if not 1 <= window <= MAX_WINDOW:
        raise InvalidRequest.of("--window", f"must be 1 to {MAX_WINDOW:,}, not {window}")
    counts = open_corpus_counts(file)
    facts: list[tuple[str, int]] = [(entity, counts.count_of(entity))]
    record: dict[str, object] = {"entity": entity, "count": facts[0][1]}
    if other is not None:
        together = counts.together(entity, other, window)
        facts += [(other, counts.count_of(other)), (f"together within {window:,} words", together)]
        record |= {"other": other, "other_count": facts[1][1]}
        record |= {"together": together, "window": window}
    print_table(facts_table([(name, f"{number:,}") for name, number in facts], record), output)


def _texts_of(path: Path) -> Callable[[], Iterator[Parts]]:
    if not path.exists():
        raise InvalidRequest.of("PATH", f"{path} does not exist")
    return lambda: ((each.title, each.text) for each in CorpusFile(path, metadata=False))


def _training_text(model: str) -> Callable[[], Iterator[Parts]]:
    with lab_required("--lab"):
        from scaar.lab.training.recipes import LANGUAGE_MODEL_TRAININGS
        from scaar.lab.training.text import training_text
    if model not in LANGUAGE_MODEL_TRAININGS:
        known = ", ".join(LANGUAGE_MODEL_TRAININGS)
        raise InvalidRequest([Violation("--lab", f"there is no model {model!r}; known: {known}")])
    return lambda: ((text,) for text in training_text(model))


def _add(counts: CountsWriter, sources: Sequence[Callable[[], Iterator[Parts]]]) -> None:
    """Count all texts, with their number on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("counting texts", total=None)
        for source in sources:
            for parts in source():
                counts.add(*parts)
                if counts.texts % _SHOWN_EVERY == 0:
                    progress.update(task, completed=counts.texts)
