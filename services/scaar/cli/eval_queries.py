"""``scaar eval queries``: query formulations on drafts that stand written; no model is asked."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from scaar import __version__
from scaar.cli import eval_options as options
from scaar.cli.eval_dataset import Drawn, draw
from scaar.cli.eval_progress import EvaluationProgress
from scaar.cli.eval_queries_index import check_index
from scaar.cli.eval_run import resumable
from scaar.cli.eval_table import print_table
from scaar.compose import EMBEDDED, ensure_lab_index, open_retriever, open_scorer
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.ports import ContributionScorer
from scaar.evaluator.planning.scorers import scorers_named
from scaar.evaluator.queries.asking import Ports
from scaar.evaluator.queries.askings import ALPHAS, USUAL, Asking, plan_askings, reference_of
from scaar.evaluator.queries.checks import check_supports
from scaar.evaluator.queries.drafts import DRAFT, Draft, DraftOrigin, drafts_of, read_drafts
from scaar.evaluator.queries.records import QueryEvaluation
from scaar.evaluator.queries.running import QueryRun, run_queries, scorer_name
from scaar.evaluator.queries.store import QueryResults, check_query_folder
from scaar.orchestrator.settings import OrchestratorSettings


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run as the command line asks for it."""

    drawn: Drawn
    drafts: dict[str, Draft]
    origin: DraftOrigin
    askings: tuple[Asking, ...]
    index: str
    out: Path
    concurrency: int


_ALPHAS = ",".join(f"{each:g}" for each in ALPHAS)


def queries(
    dataset: options.Dataset,
    drafts: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help='JSON lines {"id", "draft"}, gzip or not.', show_default=False
        ),
    ],
    out: options.Out,
    draft_field: Annotated[
        str, typer.Option(metavar="NAME", help="The field of a record that holds the draft.")
    ] = DRAFT,
    formulations: Annotated[
        str, typer.Option(metavar="NAME,...", help="Of what queries are made.")
    ] = ",".join(USUAL),
    alpha: Annotated[
        str, typer.Option(metavar="V,...", help="Shares of the words that pfq asks with, percent.")
    ] = _ALPHAS,
    scorer: options.Scorers = "",
    index: options.Index = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Whom the others are held against.", show_default=False),
    ] = None,
    concurrency: options.Concurrency = 4,
) -> None:
    """Measure query formulations on drafts that stand written; started again, it goes on."""
    planned = plan_askings(
        options.names_of(formulations),
        _numbers(alpha),
        scorers_named(options.names_of(scorer)) if scorer else (None,),
    )
    reference = reference_of(planned, reference)
    drawn = draw(dataset, limit=limit, seed=seed)
    check_supports(drawn.questions)
    index = index or drawn.index
    if index is None:
        raise InvalidRequest.of("--index", "must name the index that has the passages")
    found, origin = read_drafts(drafts, field=draft_field)
    by_id = drafts_of(drawn.questions, found, sampled=limit is not None)
    wanted = Wanted(drawn, dict(by_id), origin, planned, index, out, concurrency)
    _tell(_run(wanted), out, reference)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(each) for each in text.split(","))
    except ValueError as error:
        raise InvalidRequest.of("--alpha", f"must be numbers, not {text!r}") from error


def _run(wanted: Wanted) -> QueryResults:
    check_query_folder(wanted.out, wanted.drawn.origin, wanted.origin)
    progress = EvaluationProgress(Console(stderr=True, highlight=False))
    progress.what = "questions"
    with resumable(progress, wanted.out):
        return asyncio.run(_ask(wanted, progress))


async def _ask(wanted: Wanted, progress: EvaluationProgress) -> QueryResults:
    settings, drawn = OrchestratorSettings.read(), wanted.drawn
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        retriever = await enter(open_retriever(settings.retriever_target))
        if settings.retriever_target == EMBEDDED and drawn.lab_world is not None:
            await ensure_lab_index(retriever, drawn.lab_world)
        described = await retriever.describe_index(wanted.index)
        await check_index(retriever, wanted.index, drawn.questions, settings.retriever_target)
        scorers = await _scorers(stack, wanted.askings, settings)
        evaluation = QueryEvaluation(
            scaar=__version__,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            dataset=drawn.origin,
            drafts=wanted.origin,
            askings=wanted.askings,
            scorers={scorer_name(x): await y.describe_model() for x, y in scorers.items()},
            index=wanted.index,
            index_version=described.version,
            passages=described.passages,
        )
        run = QueryRun(
            ports=Ports(scorers, retriever, wanted.index, described.version),
            concurrency=wanted.concurrency,
            watch=progress.watch,
        )
        return await run_queries(run, wanted.out, evaluation, drawn.questions, wanted.drafts)


async def _scorers(
    stack: AsyncExitStack, askings: tuple[Asking, ...], settings: OrchestratorSettings
) -> dict[Control | None, ContributionScorer]:
    """The scorer and its controls, as far as they are asked for."""
    wanted = dict.fromkeys(each.scorer for each in askings if each.scored)
    if not wanted:
        return {}
    from scaar.scorer.controls.opening import open_control

    enter = stack.enter_async_context
    itself = await enter(open_scorer(settings.scorer_target, timeout_s=settings.scorer_timeout_s))
    return {
        each: itself if each is None else await enter(open_control(each, itself)) for each in wanted
    }


def _tell(results: QueryResults, out: Path, reference: str) -> None:
    # Statistics load numpy, which no other command needs.
    from scaar.evaluator.queries.writing import write_query_report
    from scaar.evaluator.report.wording import interval_of, value_of

    report = write_query_report(results, out, reference=reference)
    table = next(each for each in report.tables() if each.name == "by_retrieval")
    rows = [[column.title for column in table.columns]]
    for cells in table.rows:
        pairs = list(zip(cells, table.columns, strict=True))
        rows.append([f"{value_of(*pair)} {interval_of(*pair)}".strip() for pair in pairs])
    print_table(rows)
    console = Console(stderr=True, highlight=False)
    told = [f"{len(results.asked)} questions; with tables and report.md in {out}"]
    if refused := results.refused:
        question, first = refused[0]
        told.append(f"{len(refused)} queries were not made; the first: {question}: {first.refused}")
    for line in told:
        console.print(line, soft_wrap=True, markup=False)
