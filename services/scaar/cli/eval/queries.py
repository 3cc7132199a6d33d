"""``scaar eval queries``: measure query formulations on given drafts, without a model."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from scaar import __version__
from scaar.cli.eval import options
from scaar.cli.eval.fields import draw, named_by_options
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.eval.run import resumable
from scaar.cli.notes import print_notes
from scaar.cli.tables import (
    Column,
    Format,
    Interval,
    Table,
    TableFormat,
    Value,
    print_table,
)
from scaar.compose import (
    EMBEDDED,
    ensure_lab_index,
    indexes_are_local,
    open_retriever,
    open_scorer,
    scaar_home,
)
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.plurals import counted
from scaar.core.ports import ContributionScorer, Retriever
from scaar.evaluation.questions import QuestionSample
from scaar.evaluator.planning.axes import scorers_named
from scaar.evaluator.records import Question
from scaar.evaluator.studies.queries.checks import check_ids, check_supports, probe_index
from scaar.evaluator.studies.queries.drafts import DRAFT, Draft, DraftOrigin, drafts_of, read_drafts
from scaar.evaluator.studies.queries.formulations import (
    ALPHAS,
    REFERENCES,
    USUAL,
    Exclusion,
    FormulationVariant,
    plan_formulations,
    reference_of,
)
from scaar.evaluator.studies.queries.records import QueryEvaluation
from scaar.evaluator.studies.queries.retrieval import Ports
from scaar.evaluator.studies.queries.store import QueryResults, check_query_folder
from scaar.orchestrator.settings import OrchestratorSettings

if TYPE_CHECKING:
    from scaar.evaluator.report.model import Cell
    from scaar.evaluator.report.model import Column as ReportColumn


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """The options of a run on the command line."""

    drawn: QuestionSample
    drafts: dict[str, Draft]
    origin: DraftOrigin
    variants: tuple[FormulationVariant, ...]
    index: str
    out: Path
    concurrency: int


_N = TypeVar("_N", int, float)
_ALPHAS = ",".join(f"{each:g}" for each in ALPHAS)


def queries(
    dataset: options.Dataset,
    drafts: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help='File of drafts as JSON lines {"id", "draft"}, plain or gzip.'
        ),
    ],
    out: options.Out,
    draft_field: Annotated[
        str, typer.Option(metavar="NAME", help="Field of a record that contains the draft.")
    ] = DRAFT,
    formulations: Annotated[
        str, typer.Option(metavar="NAME,...", help="Query formulations.")
    ] = ",".join(USUAL),
    alpha: Annotated[
        str | None,
        typer.Option(
            metavar="V,...",
            help="Shares of words in the query of pfq, fused and bridged, in percent.",
            show_default=_ALPHAS,
        ),
    ] = None,
    exclude_seen: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="none, seen (retrievals exclude the passages that earlier ones of the answer "
            "read), matched_depth (control that reads as many distinct passages without "
            "exclusion).",
        ),
    ] = Exclusion.NONE,
    extra: Annotated[
        str,
        typer.Option(
            metavar="N,...",
            help="Also read N passages more per retrieval without exclusion, as a larger top_k "
            "does.",
        ),
    ] = "",
    scorer: options.Scorers = "",
    index: options.Index = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Formulation that the others are compared with. Default: "
            f"{' or '.join(REFERENCES)}, else the first.",
        ),
    ] = None,
    concurrency: options.Concurrency = 4,
    output: Format = None,
) -> None:
    """Measure query formulations on given drafts.

    No model is called. The command resumes when it is run again.
    """
    with named_by_options():
        scorers = scorers_named(options.names_of(scorer)) if scorer else (None,)
        options.index_names(index)
    planned = plan_formulations(
        options.names_of(formulations),
        ALPHAS if alpha is None else _numbers(alpha, float, "--alpha"),
        scorers,
        _exclusions(exclude_seen),
        _numbers(extra, int, "--extra") if extra else (),
    )
    if not any(each.scored for each in planned):
        unused = {"--alpha": alpha is not None, "--scorer": any(scorers)}
        text = f"has no effect on {formulations}: none uses contributions"
        if wrong := [Violation(option, text) for option, given in unused.items() if given]:
            raise InvalidRequest(wrong)
    reference = reference_of(planned, reference)
    drawn = draw(dataset, limit=limit, seed=seed)
    check_supports(drawn.questions)
    index = index or drawn.index
    if index is None:
        raise InvalidRequest.of("--index", "is required: the data set has no default index")
    found, origin = read_drafts(drafts, field=draft_field)
    by_id = drafts_of(drawn.questions, found, sampled=limit is not None)
    query_options = QueryOptions(drawn, dict(by_id), origin, planned, index, out, concurrency)
    _report(_run(query_options), out, reference, output)


def _numbers(text: str, kind: Callable[[str], _N], option: str) -> tuple[_N, ...]:
    try:
        return tuple(kind(each) for each in text.split(","))
    except ValueError as error:
        raise InvalidRequest.of(option, f"must be numbers, not {text!r}") from error


def _exclusions(text: str) -> tuple[Exclusion, ...]:
    try:
        return tuple(map(Exclusion, options.names_of(text)))
    except ValueError as error:
        raise InvalidRequest.of(
            "--exclude-seen", f"must be of {', '.join(Exclusion)}, not {text!r}"
        ) from error


def _run(query_options: QueryOptions) -> QueryResults:
    check_query_folder(query_options.out, query_options.drawn.origin, query_options.origin)
    progress = EvaluationProgress(what="questions")
    with resumable(progress, query_options.out):
        return asyncio.run(_run_queries(query_options, progress))


async def _run_queries(query_options: QueryOptions, progress: EvaluationProgress) -> QueryResults:
    # Only commands that write studies load the libraries of the database.
    from scaar.evaluator.studies.queries.run import QueryRun, run_queries, scorer_name

    settings, drawn = OrchestratorSettings.read(), query_options.drawn
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        retriever = await enter(open_retriever(settings.retriever_target))
        if settings.retriever_target == EMBEDDED and drawn.lab_world is not None:
            await ensure_lab_index(drawn.lab_world)
        described = await retriever.describe_index(query_options.index)
        await check_index(
            retriever, query_options.index, drawn.questions, settings.retriever_target
        )
        scorers = await _scorers(stack, query_options.variants, settings)
        evaluation = QueryEvaluation(
            scaar=__version__,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            dataset=drawn.origin,
            drafts=query_options.origin,
            variants=query_options.variants,
            scorers={scorer_name(x): await y.describe_model() for x, y in scorers.items()},
            index=query_options.index,
            index_version=described.version,
            passages=described.passages,
        )
        run = QueryRun(
            ports=Ports(scorers, retriever, query_options.index, described.version),
            concurrency=query_options.concurrency,
            progress=progress,
        )
        return await run_queries(
            run, query_options.out, evaluation, drawn.questions, query_options.drafts
        )


async def _scorers(
    stack: AsyncExitStack, variants: tuple[FormulationVariant, ...], settings: OrchestratorSettings
) -> dict[Control | None, ContributionScorer]:
    """Open the scorer and the controls that formulations use."""
    needed = dict.fromkeys(each.scorer for each in variants if each.scored)
    if not needed:
        return {}
    from scaar.scorer.controls.factory import open_control

    enter = stack.enter_async_context
    itself = await enter(open_scorer(settings.scorer_target, timeout_s=settings.scorer_timeout_s))
    return {
        each: itself if each is None else await enter(open_control(each, itself)) for each in needed
    }


def _report(results: QueryResults, out: Path, reference: str, output: TableFormat | None) -> None:
    # Only commands that need statistics load numpy.
    from scaar.evaluator.report.model import interval_text, value_text
    from scaar.evaluator.studies.queries.report import write_query_report

    report = write_query_report(results, out, reference=reference)
    table = next(each for each in report.tables() if each.name == "by_answer")

    def text(column: "ReportColumn") -> Callable[[Value], str]:
        def of(value: Value) -> str:
            cell = _cell(value)
            return f"{value_text(cell, column)} {interval_text(cell, column)}".strip()

        return of

    columns = [
        Column(each.name, each.title, text(each), right=each.decimals is not None)
        for each in table.columns
    ]
    rows = [
        [cell.value if cell.low is None else _interval(cell) for cell in cells]
        for cells in table.rows
    ]
    print_table(Table(columns, rows), output)
    lines = [f"{counted(len(results.records), 'question')}; tables and report.md are in {out}"]
    if refused := results.refused:
        question, first = refused[0]
        lines.append(
            f"{counted(len(refused), 'query')} failed; the first: {question}: {first.refused}"
        )
    print_notes(*lines)


def _interval(cell: "Cell") -> Interval:
    assert not isinstance(cell.value, str)
    return Interval(cell.value, cell.low, cell.high)


def _cell(value: Value) -> "Cell":
    """Return a cell of a report, in whose notation values are printed."""
    from scaar.evaluator.report.model import Cell

    if isinstance(value, Interval):
        return Cell(value.value, value.low, value.high)
    return Cell(value, note="-")


async def check_index(
    retriever: Retriever, index: str, questions: Sequence[Question], target: str
) -> None:
    """Check that an index has the supporting passages: by its ids, or for a server by a probe.

    Raises:
        InvalidRequest: names the first missing passage.
    """
    if target == EMBEDDED and indexes_are_local():
        ids = await asyncio.to_thread(_ids_of, index)
        check_ids(questions, ids, index=index)
    else:
        await probe_index(retriever, index, questions)


def _ids_of(index: str) -> frozenset[str]:
    from scaar.retriever.local.cache import IndexCache
    from scaar.retriever.local.files import IndexFiles
    from scaar.retriever.settings import RetrieverSettings

    folder = RetrieverSettings.read().indexes or scaar_home() / "indexes"
    cache = IndexCache(IndexFiles(folder), capacity=1, checksums=False)
    return frozenset(passage.id for passage in cache.get(index).passages())
