"""``scaar dataset``: inspect data sets of questions, and export their passages."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer

from scaar.cli.completion import complete_dataset
from scaar.cli.eval import options
from scaar.cli.output_file import write_passages
from scaar.cli.tables import Column, Format, Table, TableFormat, facts_table, print_table
from scaar.core.plurals import counted
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.datasets.corpora import open_passages
from scaar.evaluator.datasets.loader import DataSet, open_dataset

app = typer.Typer(help="Inspect data sets and export their passages.", no_args_is_help=True)

MAX_LABELS_SHOWN = 12
ANSWERS_SHOWN = 4

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Name of the data set, as in `scaar dataset list`.",
        autocompletion=complete_dataset,
    ),
]
File = Annotated[
    Path | None, typer.Argument(metavar="PATH", help="File of the data set; lab has none.")
]
Seed = Annotated[
    int | None, typer.Option(metavar="S", help="lab: seed of the world. Default: 2000.")
]


@app.command("list")
def list_(output: Format = None) -> None:
    """List data sets and the layout of their files."""
    columns = [Column(name, right=False) for name in ("name", "title", "layout")]
    rows = [(kind.name, kind.title, kind.layout) for kind in KINDS.values()]
    print_table(Table(columns, rows), output)


@app.command("show")
def show(
    name: Name,
    path: File = None,
    aliases: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="2wikimultihopqa: file of answer aliases, id_aliases.json."
        ),
    ] = None,
    sha256: Annotated[
        str, typer.Option(metavar="HEX", help="Expected SHA-256 checksum of the file.")
    ] = "",
    seed: Seed = None,
    count: Annotated[
        int | None, typer.Option(metavar="N", help="lab: number of questions.")
    ] = None,
    style: options.Style = None,
    tail_share: options.TailShare = None,
    freedom: options.Freedom = None,
    first: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of questions to show.")
    ] = 3,
    output: Format = None,
) -> None:
    """Show the size, labels and first questions of a data set."""
    dataset = open_dataset(
        *(name, path),
        aliases=aliases,
        sha256=sha256,
        seed=seed,
        count=count,
        style=style,
        tail_share=tail_share,
        freedom=freedom,
    )
    facts = [*_facts(dataset), *_labels(dataset)]
    print_table(facts_table(facts, dict(facts)), output)
    if output in (TableFormat.JSON, TableFormat.CSV):
        return
    for question in dataset.questions[:first]:
        answers = " | ".join(question.answers[:ANSWERS_SHOWN])
        more = len(question.answers) - ANSWERS_SHOWN
        others = f" and {more:,} more" if more > 0 else ""
        print(f"\n{question.id}  {question.question}\n  = {answers}{others}")


@app.command("passages")
def passages(
    name: Name,
    path: File = None,
    *,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="File for the passages, as JSON lines, compressed if the name ends in .gz. It "
            "must not exist.",
        ),
    ],
    seed: Seed = None,
) -> None:
    """Write a data set's passages for `scaar index build`.

    There is one passage for each title.
    """
    written = write_passages(out, open_passages(name, path, seed=seed))
    print(f"{out}: {counted(written, 'passage')} of {name}")


def _facts(dataset: DataSet) -> Iterator[tuple[str, str]]:
    kind, questions = dataset.kind, dataset.questions
    entities = len({question.entity for question in questions})
    answers = [len(question.answers) for question in questions]
    yield "data set", f"{kind.title} ({kind.name})"
    yield "questions", f"{len(questions):,}, about {counted(entities, 'entity')}"
    yield (
        "answers",
        f"{min(answers):,} to {max(answers):,} per question, {fmean(answers):.1f} on average",
    )
    for why, number in sorted(dataset.left_out.items()):
        yield "left out", f"{number:,}: {why}"
    if dataset.sha256:
        yield "sha256", dataset.sha256
        yield "published as", dataset.published_as or "unknown checksum"
    yield "measures", ", ".join(kind.measures)
    yield "examples", kind.exemplars or "those of the prompt layout"
    yield "max_tokens", f"{kind.max_tokens}"


def _labels(dataset: DataSet) -> Iterator[tuple[str, str]]:
    counts: dict[str, Counter[str]] = {}
    for question in dataset.questions:
        for name, label in question.labels:
            counts.setdefault(name, Counter())[label] += 1
    for name, found in counts.items():
        shown = [f"{label} {number:,}" for label, number in found.most_common(MAX_LABELS_SHOWN)]
        more = len(found) - len(shown)
        yield name, ", ".join(shown) + (f" and {more:,} more" if more else "")
