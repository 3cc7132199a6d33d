"""``scaar eval longtail``: which questions of a data set are of the long tail."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from scaar import __version__
from scaar.cli import eval_options as options
from scaar.cli.eval_dataset import Drawn, draw
from scaar.cli.eval_progress import LINE_EVERY_S
from scaar.cli.eval_run import with_examples
from scaar.cli.eval_statistics import OWN, statistics_again, statistics_of
from scaar.cli.eval_table import print_table
from scaar.compose import open_differentiable
from scaar.core.alone import model_alone
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.gates.proxy_json import WEIGHTS, proxy_to_json
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.types import AnswerRequest, BudgetLimits, PolicyRequest
from scaar.evaluator.execution.opening import provenance_of
from scaar.evaluator.longtail.frequencies import ENGLISH
from scaar.evaluator.longtail.gece import Variant
from scaar.evaluator.longtail.records import Labelling
from scaar.evaluator.store.files import write_whole

app = typer.Typer(help="Find the questions of the long tail, by GECE.", no_args_is_help=True)

SHARE = 0.2
"""The share of a data set that GECE calls long-tail."""
_SERVERS = ("http://", "https://", "dns:", "unix:", "ipv4:", "ipv6:")


@app.callback()
def _longtail() -> None:
    """Find the questions of the long tail, by GECE."""


@app.command("label")
def label(
    dataset: options.Dataset,
    model: Annotated[
        str, typer.Option(metavar="FOLDER", help="A checkpoint of transformers, or its hub's name.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the labels.")],
    frequencies: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help=f"Where words are counted: {ENGLISH}, {OWN} (its passages), or passages in a "
            f"file. Not given: {OWN} for lab, else {ENGLISH}.",
            show_default=False,
        ),
    ] = "",
    share: Annotated[float, typer.Option(help="The share that is called long-tail.")] = SHARE,
    limit: options.Limit = None,
    seed: options.Seed = None,
    style: options.Style = None,
    tail_share: options.TailShare = None,
    aliases: options.Aliases = None,
    timeout: options.Timeout = options.TIMEOUT_S,
) -> None:
    """Label a data set's questions by GECE; started again, it goes on."""
    # The pass over a data set loads numpy and more, which no other command needs.
    from scaar.evaluator.longtail.folder import check_label_folder
    from scaar.evaluator.longtail.labelling import check_references, check_share

    check_share(share)
    if model.startswith(_SERVERS):
        text = "must name a checkpoint of transformers: a server gives no gradients"
        raise InvalidRequest.of("--model", f"{text}, and {model} is one")
    drawn = draw(
        dataset, limit=limit, seed=seed, style=style, tail_share=tail_share, aliases=aliases
    )
    check_references(drawn.questions)
    check_label_folder(out)
    wanted = _Wanted(drawn, statistics_of(frequencies, drawn), model, out, share, timeout)
    progress = _Progress(Console(stderr=True, highlight=False))
    with _resumable(out, progress):
        asyncio.run(_label(wanted, progress))
    show(out)


@app.command("show")
def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of labels.")],
    tail: Annotated[
        str,
        typer.Option(
            metavar="LABEL=VALUE,...",
            help="The labels of the data set that say what its tail is.",
        ),
    ] = "popularity=tail",
) -> None:
    """Show how well the labels find the tail that a data set tells of."""
    from scaar.evaluator.longtail.detection import Bounded, detection, tail_of
    from scaar.evaluator.longtail.folder import read_labels

    labelling, questions, labels = read_labels(folder)
    infinite = sum(each.gece is None for each in labels)
    err = Console(stderr=True, highlight=False)
    for line in (
        f"{len(labels)} questions, {sum(each.long_tail for each in labels)} of them long-tail; "
        f"model {labelling.model}, words counted in {labelling.frequencies}",
        f"{infinite} have a product of gradients of 0 or less and rank first",
    ):
        err.print(line, soft_wrap=True, markup=False)
    name = tail.partition("=")[0]
    if not any(name in dict(each.labels) for each in questions):
        missing = f"the questions have no label {name!r} to hold this against (--tail)"
        err.print(missing, soft_wrap=True, markup=False)
        return
    found = detection(labels, questions, tail_of(questions, tail), share=labelling.share)

    def told(each: Bounded) -> str:
        return f"{each.value:.3f} [{each.low:.3f}, {each.high:.3f}]"

    heading = ("ordered by", f"precision at {labelling.share:.0%} [95%]", "AUROC [95%]")
    print_table([heading, *((each.by, told(each.precision), told(each.auroc)) for each in found)])


@app.command("fit")
def fit(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of labels.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the gate's proxy goes.")],
    frequencies: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="A file of passages, where the labels are by the words of one.",
            show_default=False,
        ),
    ] = "",
    by: Annotated[
        Variant,
        typer.Option(help="Whose labels are learned: GECE's, or its own without one of its parts."),
    ] = Variant.GECE,
    seed: Annotated[int, typer.Option(help="Which half an entity is in.")] = 0,
) -> None:
    """Learn the gate's proxy from labels, on their development half."""
    from scaar.evaluator.longtail.fitting import fit_proxy, learned_from
    from scaar.evaluator.longtail.folder import read_labels

    labelling, questions, labels = read_labels(folder)
    statistics = statistics_again(frequencies, labelling)
    fitted = fit_proxy(labelling, questions, labels, statistics, seed=seed, by=by)
    told_of = learned_from(labelling, fitted, by)
    write_whole(out, proxy_to_json(fitted.proxy, learned_from=told_of))
    proxy = fitted.proxy

    def told(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    heading = ("learned on", "tested on", f"precision at {labelling.share:.0%}", "AUROC")
    row = (str(fitted.development), str(fitted.test), told(fitted.precision), told(fitted.auroc))
    print_table([heading, row])
    err = Console(stderr=True, highlight=False)
    weights = ", ".join(
        f"{name} {weight:+.3g}" for name, weight in zip(WEIGHTS, proxy.weights, strict=True)
    )
    for line in (
        f"bias {proxy.bias:+.3g}, {weights}; threshold {proxy.threshold:.3f}",
        f"SCAAR_ORCHESTRATOR_GATE_FILE={out}",
    ):
        err.print(line, soft_wrap=True, markup=False)


@dataclass(frozen=True, slots=True)
class _Wanted:
    drawn: Drawn
    statistics: Callable[[], WordStatistics]
    model: str
    out: Path
    share: float
    timeout_s: float


class _Progress:
    """Tells now and then how far the passes over the questions have come."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = time.monotonic()
        self.so_far = ""

    def told(self, doing: str, done: int, total: int) -> None:
        self.so_far = f"{doing}: {done} of {total} questions"
        if done == total or time.monotonic() - self._last >= LINE_EVERY_S:
            self._last = time.monotonic()
            self.say(self.so_far)

    def say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True, markup=False)


@contextmanager
def _resumable(out: Path, progress: _Progress) -> Iterator[None]:
    """What ends the block early says how to go on."""
    try:
        yield
    except InvalidRequest:
        raise
    except (KeyboardInterrupt, ScaarError):
        if progress.so_far:
            progress.say(f"stopped at {progress.so_far}; what is there is kept in {out}")
            progress.say("the same command goes on with it")
        raise


async def _label(wanted: _Wanted, progress: _Progress) -> None:
    from scaar.evaluator.longtail.labelling import Labeller, label_in_folder

    drawn = wanted.drawn
    statistics = wanted.statistics()
    async with open_differentiable(wanted.model) as (generator, gradients):
        answerer = model_alone(generator)
        budget = BudgetLimits(timeout_s=wanted.timeout_s)
        template = AnswerRequest("", PolicyRequest("no_retrieval"), index="none", budget=budget)
        template = await with_examples(answerer, template, drawn)
        opened = replace(template, question=drawn.questions[0].question)
        made = await provenance_of(answerer, opened)
        labelling = Labelling(
            scaar=__version__,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            dataset=drawn.origin,
            model=made.model,
            revision=made.model_revision,
            prompt_profile=made.prompt_profile,
            frequencies=statistics.source,
            weights=tuple(gradients.weights),
            share=wanted.share,
        )
        labeller = Labeller(answerer, gradients, statistics, template, progress.told)
        await label_in_folder(labeller, wanted.out, labelling, drawn.questions)
