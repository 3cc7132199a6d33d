"""``scaar dataset``: data sets of questions, and files of the passages that they bring."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer

from scaar.cli.written_file import write_passages
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.datasets.corpora import open_passages
from scaar.evaluator.datasets.opening import DataSet, open_dataset

app = typer.Typer(help="Look at data sets, and make files of their passages.", no_args_is_help=True)

MAX_LABELS_SHOWN = 12
ANSWERS_SHOWN = 4

Name = Annotated[str, typer.Argument(metavar="NAME", help="The data set.", show_default=False)]
File = Annotated[
    Path | None,
    typer.Argument(metavar="PATH", help="Its file; lab has none.", show_default=False),
]
Seed = Annotated[int | None, typer.Option(help="Of lab: which world.", show_default=False)]


@app.command("list")
def list_() -> None:
    """List the data sets, and the layout of their files."""
    for kind in KINDS.values():
        print(f"{kind.name:17}{kind.title}: {kind.layout}")


@app.command("show")
def show(
    name: Name,
    path: File = None,
    aliases: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Of 2wikimultihopqa: id_aliases.json.", show_default=False
        ),
    ] = None,
    sha256: Annotated[
        str, typer.Option(help="The checksum that the file must have.", show_default=False)
    ] = "",
    seed: Seed = None,
    count: Annotated[
        int | None, typer.Option(help="Of lab: how many questions.", show_default=False)
    ] = None,
    style: Annotated[
        float | None,
        typer.Option(
            metavar="RATE",
            help="Of lab: the share that is answered in words of style.",
            show_default=False,
        ),
    ] = None,
    tail_share: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Of lab: the share that is of the long tail.", show_default=False
        ),
    ] = None,
    first: Annotated[int, typer.Option(min=0, help="How many questions to show.")] = 3,
) -> None:
    """Tell what a data set holds: counts, labels, the first questions."""
    dataset = open_dataset(
        *(name, path),
        aliases=aliases,
        sha256=sha256,
        seed=seed,
        count=count,
        style=style,
        tail_share=tail_share,
    )
    for heading, told in (*_facts(dataset), *_labels(dataset)):
        print(f"{heading:14}{told}")
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
            help="The passages, as JSON lines; gzip where the name ends in .gz. Must not be there.",
            show_default=False,
        ),
    ],
    seed: Seed = None,
) -> None:
    """Write the passages that a data set brings, one a title, as `scaar index build` takes them."""
    written = write_passages(out, open_passages(name, path, seed=seed))
    print(f"{out}: {written:,} passages of {name}")


def _facts(dataset: DataSet) -> Iterator[tuple[str, str]]:
    kind, questions = dataset.kind, dataset.questions
    entities = len({question.entity for question in questions})
    answers = [len(question.answers) for question in questions]
    yield "data set", f"{kind.title} ({kind.name})"
    yield "questions", f"{len(questions):,}, about {entities:,} entities"
    yield (
        "answers",
        f"{min(answers):,} to {max(answers):,} a question, {fmean(answers):.1f} on average",
    )
    for why, number in sorted(dataset.left_out.items()):
        yield "left out", f"{number:,}: {why}"
    if dataset.sha256:
        yield "sha256", dataset.sha256
        yield "published as", dataset.published_as or "not known by its checksum"
    yield "measures", ", ".join(kind.measures)
    yield "examples", kind.exemplars or "those of the layout"
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
