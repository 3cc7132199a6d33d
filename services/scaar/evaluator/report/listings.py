"""Labels of the questions of a report, and listings of the questions behind its cells."""

import re
from collections.abc import Sequence

import numpy as np

from scaar.core.plurals import counted
from scaar.evaluator.records import Question
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import measure_title, score_column, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.statistics.groups import Breakdown, breakdowns
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.table import FAILED, MISSING, Floats

MAX_LISTED = 50
"""Maximum number of questions in a listing."""


def policy_listing(position: int) -> str:
    """Return the name of the listing of a policy's questions, by the position of the policy."""
    return f"questions-policy-{position}"


def group_listing(file: str, position: int) -> str:
    """Return the name of the listing of a label's value, by the position of the value."""
    return f"questions-{file}-{position}"


def list_questions(analysis: Analysis) -> tuple[Table, ...]:
    """Return a listing for each policy at its chosen setting, and one for each value of a label.

    All are of the test split. A policy's listing has the score and the retrievals of every
    question; a label's listing has the score of every policy.
    """
    policies = (_of_policy(analysis, at) for at in range(len(analysis.variants)))
    groups = (
        _of_group(analysis, each.label, group.value, group.table.questions, name)
        for each, file in labels_of(analysis)
        for number, group in enumerate(each.groups)
        if (name := group_listing(file, number))
    )
    return (*policies, *groups)


def _of_policy(analysis: Analysis, position: int) -> Table:
    variant, test = analysis.variants[position], analysis.splits.test
    setting = analysis.chosen(variant)
    scores, retrievals, failed, missing = (
        test.column(name)[setting] for name in (analysis.measure, RETRIEVALS, FAILED, MISSING)
    )
    listed = _lowest(test.questions, scores)
    columns = (
        Column("question_id", "question"),
        score_column("score", measure_title(analysis.measure), pinned=True),
        Column("retrievals", "retrievals", decimals=0),
        Column("question", "text"),
        Column("expected", "expected answer"),
    )
    rows = tuple(
        (
            text(test.questions[at].id),
            Cell(float(scores[at]), note=_note(bool(failed[at]), bool(missing[at]))),
            Cell(float(retrievals[at])),
            text(test.questions[at].question),
            text(next(iter(test.questions[at].answers), "")),
        )
        for at in listed
    )
    label = analysis.table.settings[setting].label
    title = f"{variant.name}: {_range(len(listed), len(test.questions))} on the test split"
    return Table(policy_listing(position), title, columns, rows, note=f"Setting {label}.")


def _of_group(
    analysis: Analysis, label: str, value: str, members: Sequence[Question], name: str
) -> Table:
    test = analysis.splits.test
    inside = {each.id for each in members}
    settings = [analysis.chosen(each) for each in analysis.variants]
    scores = test.column(analysis.measure)[settings]
    listed = [
        at
        for at in _lowest(test.questions, scores.mean(axis=0), limit=len(test.questions))
        if test.questions[at].id in inside
    ][:MAX_LISTED]
    columns = (
        Column("question_id", "question"),
        *(score_column(each.name, each.name) for each in analysis.variants),
        Column("question", "text"),
    )
    rows = tuple(
        (
            text(test.questions[at].id),
            *(Cell(float(each)) for each in scores[:, at]),
            text(test.questions[at].question),
        )
        for at in listed
    )
    title = f"{label} {value}: {_range(len(listed), len(members))} on the test split"
    note = f"{measure_title(analysis.measure)} of every policy at its chosen setting."
    return Table(name, title, columns, rows, note=note)


def _lowest(questions: Sequence[Question], scores: Floats, *, limit: int = MAX_LISTED) -> list[int]:
    """The positions of the questions with the lowest scores; ties in the order of their ids."""
    rounded = np.round(scores, 9)
    order = sorted(range(len(questions)), key=lambda at: (rounded[at], questions[at].id))
    return order[:limit]


def _range(listed: int, count: int) -> str:
    if listed < count:
        return f"the {listed} lowest-scoring of {count:,} questions"
    return counted(count, "question")


def _note(failed: bool, missing: bool) -> str:
    if missing:
        return "missing"
    return "failed" if failed else ""


def labels_of(analysis: Analysis) -> list[tuple[Breakdown, str]]:
    """Return the groups of every label of the test split, with a file name for the label."""
    found = breakdowns(analysis.splits.test.only((analysis.measure, RETRIEVALS)))
    return list(zip(found, _file_names([each.label for each in found]), strict=True))


def _file_names(labels: Sequence[str]) -> list[str]:
    """The labels as parts of file names, in ASCII letters, digits and underscores."""
    names: list[str] = []
    for label in labels:
        name = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_") or "label"
        taken = names.count(name)
        names.append(f"{name}_{len(names)}" if taken else name)
    return names
