"""``scaar eval longtail``: find the long-tail questions of a data set with GECE."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from scaar import __version__
from scaar.cli.eval import options
from scaar.cli.eval.fields import draw
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.eval.run import resumable
from scaar.cli.eval.statistics import OWN, statistics_again, statistics_of
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Interval, Table, interval, number, print_table
from scaar.compose import open_differentiable
from scaar.core.errors import InvalidRequest
from scaar.core.gates.proxy import FEATURES
from scaar.core.gates.proxy_json import proxy_to_json
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.loop.model_only import model_alone
from scaar.core.plurals import counted
from scaar.core.types import AnswerRequest, BudgetLimits, PolicyRequest
from scaar.evaluation.questions import QuestionSample
from scaar.evaluator.execution.provenance import provenance_of, with_profile
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.store.studies import find_study
from scaar.evaluator.studies.longtail.folder import LABELLING, read_labels
from scaar.evaluator.studies.longtail.frequencies import ENGLISH
from scaar.evaluator.studies.longtail.gece import Variant
from scaar.evaluator.studies.longtail.records import Labelling

app = typer.Typer(help="Find long-tail questions with GECE.", no_args_is_help=True)

SHARE = 0.2
"""Default fraction of a data set that GECE labels as long-tail."""
_SERVERS = ("http://", "https://", "dns:", "unix:", "ipv4:", "ipv6:")


@app.callback()
def _longtail() -> None:
    """Find long-tail questions with GECE."""


@app.command("label")
def label(
    dataset: options.Dataset,
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="Checkpoint of transformers: a folder, or a name on the Hugging Face hub.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the labels.")],
    frequencies: Annotated[
        str,
        typer.Option(
            metavar="SOURCE",
            help=f"Source of word frequencies: {ENGLISH}, {OWN} (the passages of the data set), or "
            f"a file of passages. Default: {OWN} for lab, else {ENGLISH}.",
        ),
    ] = "",
    share: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Fraction of questions that is labelled long-tail."),
    ] = SHARE,
    limit: options.Limit = None,
    seed: options.Seed = None,
    style: options.Style = None,
    tail_share: options.TailShare = None,
    aliases: options.Aliases = None,
    timeout: options.Timeout = options.TIMEOUT_S,
    output: Format = None,
) -> None:
    """Label the questions of a data set with GECE.

    The command resumes when it is run again.
    """
    # Only commands that label load numpy.
    from scaar.evaluator.studies.longtail.labeller import check_references, check_share

    check_share(share)
    if model.startswith(_SERVERS):
        text = f"must name a checkpoint of transformers, not the server {model}"
        raise InvalidRequest.of("--model", f"{text}: GECE needs gradients")
    drawn = draw(
        dataset, limit=limit, seed=seed, style=style, tail_share=tail_share, aliases=aliases
    )
    check_references(drawn.questions)
    find_study(out, LABELLING)
    label_options = _LabelOptions(
        drawn, statistics_of(frequencies, drawn), model, out, share, timeout
    )
    progress = EvaluationProgress(what="questions")
    with resumable(progress, out):
        asyncio.run(_label(label_options, progress))
    show(out, output=output)


@app.command("show")
def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of labels.")],
    tail: Annotated[
        str,
        typer.Option(
            metavar="LABEL=VALUE,...",
            help="Labels of the data set that define its tail.",
        ),
    ] = "popularity=tail",
    output: Format = None,
) -> None:
    """Compare labels with the declared tail of the data set.

    Precision and AUROC have 95% intervals.
    """
    from scaar.evaluator.studies.longtail.detection import detection, tail_of

    labelling, questions, labels = read_labels(folder)
    infinite = sum(each.gece is None for each in labels)
    print_notes(
        f"{counted(len(labels), 'question')}, "
        f"{sum(each.long_tail for each in labels)} of them long-tail; "
        f"model {labelling.model}, words counted in {labelling.frequencies}",
        f"{counted(infinite, 'question')} with a gradient product of 0 or less, ranked first",
    )
    name = tail.partition("=")[0]
    if not any(name in dict(each.labels) for each in questions):
        print_notes(f"the questions have no label {name!r} to compare with (--tail)")
        return
    found = detection(labels, questions, tail_of(questions, tail), share=labelling.share)

    columns = (
        Column("ordered_by", right=False),
        Column("precision", f"precision at {labelling.share:.0%} [95%]", interval(3)),
        Column("auroc", "AUROC [95%]", interval(3)),
    )
    rows = [(each.by, Interval.of(each.precision), Interval.of(each.auroc)) for each in found]
    print_table(Table(columns, rows), output)


@app.command("fit")
def fit(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of labels.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the gate's proxy.")],
    frequencies: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="File of passages whose words were counted for the labels, if it was one.",
        ),
    ] = "",
    by: Annotated[
        Variant,
        typer.Option(
            metavar="VARIANT",
            help="Labels to learn: of GECE, or of a variant without one of its parts: "
            f"{', '.join(Variant)}.",
        ),
    ] = Variant.GECE,
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of the split by entity.")] = 0,
    output: Format = None,
) -> None:
    """Fit the gate's proxy to labels.

    It is fitted on the development split and tested on the test split.
    """
    from scaar.evaluator.studies.longtail.proxy_fit import describe_fit, fit_proxy

    labelling, questions, labels = read_labels(folder)
    statistics = statistics_again(frequencies, labelling)
    fitted = fit_proxy(labelling, questions, labels, statistics, seed=seed, by=by)
    origin = describe_fit(labelling, fitted, by)
    write_whole(out, proxy_to_json(fitted.proxy, learned_from=origin))
    proxy = fitted.proxy

    columns = (
        Column("development", "fitted on"),
        Column("test", "tested on"),
        Column("precision", f"precision at {labelling.share:.0%}", number(3)),
        Column("auroc", "AUROC", number(3)),
    )
    row = (fitted.development, fitted.test, fitted.precision, fitted.auroc)
    print_table(Table(columns, [row]), output)
    weights = ", ".join(
        f"{name} {weight:+.3g}" for name, weight in zip(FEATURES, proxy.weights, strict=True)
    )
    print_notes(
        f"bias {proxy.bias:+.3g}, {weights}; threshold {proxy.threshold:.3f}",
        f"SCAAR_ORCHESTRATOR_GATE_FILE={out}",
    )


@dataclass(frozen=True, slots=True)
class _LabelOptions:
    drawn: QuestionSample
    statistics: Callable[[], WordStatistics]
    model: str
    out: Path
    share: float
    timeout_s: float


async def _label(label_options: _LabelOptions, progress: EvaluationProgress) -> None:
    from scaar.evaluator.studies.longtail.labeller import Labeller, label_in_folder

    drawn = label_options.drawn
    statistics = label_options.statistics()
    async with open_differentiable(label_options.model) as (generator, gradients):
        answerer = model_alone(generator)
        budget = BudgetLimits(timeout_s=label_options.timeout_s)
        template = AnswerRequest("", PolicyRequest("no_retrieval"), index="none", budget=budget)
        opened = replace(template, question=drawn.questions[0].question)
        template = await with_profile(answerer, opened, drawn.kind)
        made = await provenance_of(answerer, template)
        labelling = Labelling(
            scaar=__version__,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            dataset=drawn.origin,
            model=made.model,
            revision=made.model_revision,
            prompt_profile=made.prompt_profile,
            frequencies=statistics.source,
            weights=tuple(gradients.weights),
            share=label_options.share,
        )
        labeller = Labeller(answerer, gradients, statistics, template, progress)
        await label_in_folder(labeller, label_options.out, labelling, drawn.questions)
