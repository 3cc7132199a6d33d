"""Detection: how well every policy separates wrong drafts from right ones, and its searches."""

from collections.abc import Container, Iterable, Iterator

from scaar.core.policies import PRESETS
from scaar.core.triggers import TRIGGERS, ThetaRange
from scaar.core.types import PolicyRequest
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import estimated, number, text
from scaar.evaluator.report.model import Cell, Column, Section, Table
from scaar.evaluator.report.requested_searches import requested_searches_table
from scaar.evaluator.scoring.detection import Detection, JudgedDrafts, JudgedDraftsBuilder, detect

POPULARITY = "popularity"
"""The label that separates questions about known subjects from those about unseen ones."""
_ALL = "all"


def report_detection(analysis: Analysis, drafts: JudgedDraftsBuilder) -> Section | None:
    """Return the tables of detection and of requested searches; None if both are empty."""
    tested = {question.id for question in analysis.splits.test.questions}
    table = detection_table(
        _judging(analysis, drafts, tested),
        seed=analysis.options.seed,
        which="on the test split at its chosen setting",
    )
    tables = (table if table.rows else None, requested_searches_table(analysis))
    shown = tuple(each for each in tables if each is not None)
    return Section("Detection", shown) if shown else None


def detection_table(
    judging: Iterable[tuple[str, ThetaRange, JudgedDrafts]], *, seed: int, which: str
) -> Table:
    """Return the detection of wrong drafts, of all drafts and by popularity of the question.

    ``judging`` has the name of each policy, the range of its theta and its drafts. ``which``
    describes the drafts. A policy without a draft has no row.
    """
    rows = [
        _row(name, group, detect(of_group, theta, seed=seed))
        for name, theta, found in judging
        for group, of_group in _groups(found)
    ]
    columns = (
        Column("policy", "policy"),
        Column("questions", "questions", pinned=True),
        Column("auroc", "AUROC", decimals=3),
        Column("caught", "caught at 5% false alarms", decimals=3),
        Column("over_retrieval", "over-retrieval", decimals=3),
        Column("under_retrieval", "under-retrieval", decimals=3),
        Column("corrected", "corrected", decimals=3),
        Column("ece", "ECE", decimals=3),
        Column("drafts", "drafts", decimals=0),
        Column("wrong", "wrong", decimals=0),
    )
    return Table(
        "detection",
        "Detection of wrong drafts",
        columns,
        tuple(rows),
        note=(
            f"Drafts that a policy judged in its own answers, {which}; policies judge different "
            "drafts, since retrievals change the text before. AUROC is how often a wrong draft "
            'scores less certain than a right one, and "caught" the share of wrong drafts above '
            "the threshold that 5% of right ones exceed. Over-retrieval is the share of right "
            "drafts that were retrieved for, under-retrieval the share of wrong ones that were "
            'not, and "corrected" the share of wrong ones whose accepted sentence is right. ECE is '
            "computed only for scores that are probabilities."
        ),
    )


def theta_of(policy: PolicyRequest) -> ThetaRange | None:
    """Return the range of theta of the trigger of a policy; None without a known trigger."""
    preset = PRESETS.get(policy.name)
    trigger = policy.overrides.trigger or (preset and preset.trigger)
    rule = TRIGGERS.get(trigger) if trigger else None
    return None if rule is None else rule.theta


def _judging(
    analysis: Analysis, drafts: JudgedDraftsBuilder, tested: Container[str]
) -> Iterator[tuple[str, ThetaRange, JudgedDrafts]]:
    for variant in analysis.variants:
        setting = analysis.table.settings[analysis.chosen(variant)]
        theta = theta_of(setting.policy)
        if theta is not None:
            found = drafts.drafts(setting.label)
            yield variant.name, theta, found.of([each.id in tested for each in found.questions])


def _row(name: str, group: str, found: Detection) -> tuple[Cell, ...]:
    estimates = (
        *(found.auroc, found.caught, found.over_retrieval, found.under_retrieval),
        *(found.corrected, found.ece),
    )
    return (
        text(name),
        text(group),
        *(estimated(each, missing="none") for each in estimates),
        number(float(found.drafts)),
        number(float(found.wrong)),
    )


def _groups(drafts: JudgedDrafts) -> Iterator[tuple[str, JudgedDrafts]]:
    """Yield all drafts, then those of every popularity; nothing without a draft."""
    if not drafts.questions:
        return
    yield _ALL, drafts
    values = [dict(each.labels).get(POPULARITY, "") for each in drafts.questions]
    for value in sorted({*values} - {""}):
        yield value, drafts.of([each == value for each in values])
