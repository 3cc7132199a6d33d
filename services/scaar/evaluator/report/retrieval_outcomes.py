"""Support recall: how often the retrievals of every policy return the supporting passages."""

import numpy as np

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.cells import estimated, mark_best, measure_title, number, text
from scaar.evaluator.report.model import Cell, Column, Section, Table
from scaar.evaluator.report.summary import of_setting_chosen
from scaar.evaluator.statistics.estimate import share
from scaar.evaluator.statistics.means import SplitMeans
from scaar.evaluator.statistics.table import (
    ALL_SUPPORTS_FOUND,
    RETRIEVALS_EXCLUDING_SUPPORT,
    RETRIEVALS_LOSING_SUPPORT,
    RETRIEVALS_WITH_KNOWN_SUPPORTS,
    RETRIEVALS_WITH_NEW_SUPPORT,
    RETRIEVALS_WITH_SUPPORT,
    SUPPORTS_FOUND,
    SUPPORTS_KNOWN,
    Floats,
)
from scaar.evaluator.statistics.variants import PolicyVariant

_SHARES = (
    (RETRIEVALS_WITH_SUPPORT, RETRIEVALS_WITH_KNOWN_SUPPORTS, "with a support"),
    (RETRIEVALS_WITH_NEW_SUPPORT, RETRIEVALS_WITH_KNOWN_SUPPORTS, "with a new support"),
    (SUPPORTS_FOUND, SUPPORTS_KNOWN, "support recall"),
)


def report_support_recall(analysis: Analysis) -> Section | None:
    """Return the table of support recall; None if no supporting passage is known or retrieved."""
    if not analysis.splits.test.column(SUPPORTS_FOUND).any():
        return None
    score = measure_title(analysis.measure)
    columns = (
        Column("policy", "policy"),
        Column(RETRIEVALS_WITH_KNOWN_SUPPORTS, "retrievals", decimals=2),
        *(Column(part, title, decimals=3) for part, _, title in _SHARES),
        Column("score_with_all", f"{score} with all supports", decimals=3),
        Column("questions_with_all", "questions with all", decimals=0),
        Column("score_without_all", f"{score} without all", decimals=3),
    )
    rows = (_row(analysis, each) for each in analysis.variants)
    table = Table(
        "brought",
        "Supporting passages retrieved",
        columns,
        mark_best(columns, rows, (SUPPORTS_FOUND,)),
        note=(
            "Supports are the passages that a question needs, according to its data set. A support "
            "is new if no earlier retrieval of the answer returned it. A policy that does not "
            "retrieve what its model knows has a lower support recall. On the test split, at the "
            "chosen settings."
        ),
    )
    return Section("Support recall", (table, *_exclusions(analysis)))


def _exclusions(analysis: Analysis) -> tuple[Table, ...]:
    """Return the table of excluded supports; none if no retrieval excludes a support."""
    test = analysis.splits.test
    excluding = test.column(RETRIEVALS_EXCLUDING_SUPPORT)
    variants = [each for each in analysis.variants if excluding[analysis.chosen(each)].any()]
    if not variants:
        return ()
    counted = (
        RETRIEVALS_WITH_KNOWN_SUPPORTS,
        RETRIEVALS_EXCLUDING_SUPPORT,
        RETRIEVALS_LOSING_SUPPORT,
    )
    titles = ("retrievals", "exclude a support", "and return no other support")
    columns = (
        Column("policy", "policy"),
        *(Column(name, title, decimals=0) for name, title in zip(counted, titles, strict=True)),
    )
    rows = (
        (
            text(each.name),
            *(number(float(test.column(name)[analysis.chosen(each)].sum())) for name in counted),
        )
        for each in variants
    )
    table = Table(
        "excluded_supports",
        "Supporting passages excluded",
        columns,
        tuple(rows),
        note=(
            "Number of retrievals on the test split, at the chosen settings. A policy that sets "
            "exclude_seen excludes passages that the answer has read. If such a passage is a "
            "support and the retrieval returns no other support, a sentence that needed it again "
            "was written without it."
        ),
    )
    return (table,)


def _row(analysis: Analysis, variant: PolicyVariant) -> tuple[Cell, ...]:
    at = analysis.chosen(variant)
    test = analysis.splits.test
    known = test.column(SUPPORTS_KNOWN)[at] > 0
    whole = test.column(ALL_SUPPORTS_FOUND)[at] > 0
    scores = test.column(analysis.measure)[at]
    return (
        text(variant.name),
        estimated(
            analysis.estimate(of_setting_chosen(analysis, variant, RETRIEVALS_WITH_KNOWN_SUPPORTS))
        ),
        *(
            estimated(analysis.estimate(_share(analysis, variant, part, of)), missing="none")
            for part, of, _ in _SHARES
        ),
        _mean(scores[whole]),
        number(float(whole.sum())),
        _mean(scores[known & ~whole]),
    )


def _share(analysis: Analysis, variant: PolicyVariant, part: str, of: str) -> Statistic:
    parts = of_setting_chosen(analysis, variant, part)
    wholes = of_setting_chosen(analysis, variant, of)

    def statistic(splits: SplitMeans) -> Floats:
        return share(parts(splits), wholes(splits))

    return statistic


def _mean(scores: Floats) -> Cell:
    return number(float(np.mean(scores)) if len(scores) else None, missing="none")
