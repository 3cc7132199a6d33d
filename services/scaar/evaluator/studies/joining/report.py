"""The report on joined evaluations, and its files."""

import re
from collections.abc import Sequence
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.core.plurals import counted
from scaar.evaluator.report.cells import measure_title, number, text
from scaar.evaluator.report.model import Cell, Column, Item, Report, ReportOptions, Section, Table
from scaar.evaluator.report.provenance import QUESTIONS_OF_RECORD
from scaar.evaluator.report.wins import contests_of, count_wins
from scaar.evaluator.report.writer import write_files
from scaar.evaluator.results import describe_left_out
from scaar.evaluator.statistics.wins import Contest, win_counts
from scaar.evaluator.store.folder import DATABASE
from scaar.evaluator.studies.joining import facts
from scaar.evaluator.studies.joining.evaluations import Joined, join
from scaar.evaluator.studies.joining.policies import label_columns, labels_of, tabulate_policies
from scaar.evaluator.studies.joining.sweeps import draw_sweeps


def compose_joined(joined: Joined) -> Report:
    """Return the report; sections without content are left out."""
    parts = (
        tabulate_policies(joined),
        *draw_sweeps(joined),
        count_all_wins(joined),
        _how(joined),
        _made_of(joined),
    )
    differing = ", ".join(each.name for each in joined.axes if each.differs)
    return Report(
        title=f"{len(joined.analyses)} evaluations by {differing}",
        subtitle=f"{counted(len(joined.policies()), 'policy')}; each evaluation is measured "
        "separately",
        sections=tuple(part for part in parts if part is not None),
    )


def _how(joined: Joined) -> Section:
    options = joined.analyses[0].options
    few = min(len(each.table.questions) for each in joined.analyses)
    items: list[Item] = [
        "The questions of every evaluation were split by entity. The setting of a policy has the "
        f"best {measure_title(joined.measure)} on the development split of its evaluation, and "
        "everything here is measured on the test split. Intervals are 95% intervals from "
        f"{options.resamples:,} bootstrap samples of whole entities of each evaluation. Nothing is "
        "averaged over evaluations, and differences between evaluations are not tested."
    ]
    for name, analysis in zip(joined.names, joined.analyses, strict=True):
        if left_out := "; ".join(describe_left_out(analysis.evaluation.left_out)):
            items.append(f"Left out of {name} because its model cannot serve them: {left_out}.")
        if not analysis.splits.apart:
            items.append(
                f"Warning: {name} could not be split by entity; its chosen settings look better "
                "than they are."
            )
    if few < QUESTIONS_OF_RECORD:
        items.append(
            f"Warning: only {counted(few, 'question')} in the smallest evaluation. A "
            f"report of record has at least {QUESTIONS_OF_RECORD:,}."
        )
    return Section("How policies are compared", tuple(items))


def _made_of(joined: Joined) -> Section:
    rows = []
    for name, analysis in zip(joined.names, joined.analyses, strict=True):
        evaluation = analysis.evaluation
        known = (
            *(facts.model_of(evaluation), facts.scorer_of(evaluation), facts.index_of(evaluation)),
            *(facts.data_set_of(evaluation), f"{evaluation.dataset.seed}"),
            *(evaluation.dataset.checksum, evaluation.created, evaluation.scaar),
        )
        counts = (len(analysis.table.questions), len(analysis.table.settings))
        rows.append((text(name), *map(number, counts), *(text(_shortened(each)) for each in known)))
    names = (
        "model",
        "scorer",
        "index",
        "data set",
        "seed",
        "questions' SHA-256",
        "started",
        "scaar",
    )
    table = Table(
        "joined_evaluations",
        "The evaluations",
        (
            Column("folder", "folder"),
            Column("questions", "questions", decimals=0),
            Column("settings", "settings", decimals=0),
            *(Column(each.replace(" ", "_").replace("'", ""), each) for each in names),
        ),
        tuple(rows),
    )
    return Section("Joined evaluations", (table,))


def _shortened(text: str) -> str:
    """A text with its checksums shortened to 12 digits."""
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{20,}\b", r"\1", text)


def count_all_wins(joined: Joined) -> Section | None:
    """Return the wins over all evaluations and in each; None without a contest."""
    entered = [contests_of(each) for each in joined.analyses]
    outcomes = [contest for contests, _ in entered for contest in contests]
    if not outcomes:
        return None
    axes = ", ".join(each.name for each in joined.axes if each.differs)
    items = count_wins(outcomes, f"for each {axes}, {entered[0][1]}")
    return Section("Contests between triggers", (*items, _by_evaluation(joined, entered)))


def _by_evaluation(joined: Joined, entered: list[tuple[list[Contest], str]]) -> Table:
    won = [win_counts(contests) for contests, _ in entered]
    triggers = tuple(dict.fromkeys(name for each in won for name in each))
    rows = tuple(
        (
            *labels_of(joined.axes, at),
            number(len(entered[at][0])),
            *(
                number(each[name]) if name in each else Cell(None, note="not run")
                for name in triggers
            ),
        )
        for at, each in enumerate(won)
    )
    return Table(
        "wins_by_evaluation",
        "Contests won in each evaluation",
        (
            *label_columns(joined.axes),
            Column("contests", "contests", decimals=0),
            *(Column(name, name, decimals=1) for name in triggers),
        ),
        rows,
    )


def write_joined(
    folders: Sequence[Path], out: Path, options: ReportOptions | None = None
) -> Report:
    """Write report.md, .html and .json, tables/*.csv and figures/*.svg into ``out``.

    Raises:
        InvalidRequest: the folders cannot be joined, or ``out`` contains an evaluation.
        DataCorrupt: naming the folder and the corrupt file.
        ScaarError: a file cannot be written.
    """
    if (out / DATABASE).exists():
        text = f"{out} contains an evaluation with its own report; name another folder"
        raise InvalidRequest.of("--out", text)
    if out.exists() and not out.is_dir():
        raise InvalidRequest.of("--out", f"{out} is not a folder")
    report = compose_joined(join(folders, options))
    write_files(report, out)
    return report
