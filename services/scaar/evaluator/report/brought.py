"""What the retrievals of every policy brought: whether they failed, or what was made of them."""

import numpy as np

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.cells import estimated, measure_title, number, text
from scaar.evaluator.report.model import Cell, Column, Section, Table
from scaar.evaluator.report.summary import of_setting_chosen
from scaar.evaluator.statistics.contenders import Contender
from scaar.evaluator.statistics.efficiency import share
from scaar.evaluator.statistics.lookups import (
    ALL_SUPPORTS_FOUND,
    RETRIEVALS_TOLD,
    RETRIEVALS_WITH_NEW_SUPPORT,
    RETRIEVALS_WITH_SUPPORT,
    SUPPORTS_FOUND,
    SUPPORTS_KNOWN,
)
from scaar.evaluator.statistics.means import HalvedMeans
from scaar.evaluator.statistics.table import Floats

_SHARES = (
    (RETRIEVALS_WITH_SUPPORT, RETRIEVALS_TOLD, "that bring a support"),
    (RETRIEVALS_WITH_NEW_SUPPORT, RETRIEVALS_TOLD, "that bring another one"),
    (SUPPORTS_FOUND, SUPPORTS_KNOWN, "supports brought"),
)


def tell_brought(analysis: Analysis) -> Section | None:
    """The table of what was brought; None where no support is known, or none was ever brought."""
    if not analysis.halved.test.column(SUPPORTS_FOUND).any():
        return None
    score = measure_title(analysis.measure)
    table = Table(
        "brought",
        "What retrievals brought",
        (
            Column("policy", "policy"),
            Column(RETRIEVALS_TOLD, "retrievals", decimals=2),
            *(Column(part, title, decimals=3) for part, _, title in _SHARES),
            Column("score_with_all", f"{score} with all supports", decimals=3),
            Column("questions_with_all", "questions with all", decimals=0),
            Column("score_without_all", f"{score} without", decimals=3),
        ),
        tuple(_row(analysis, each) for each in analysis.contenders),
        note=(
            "Supports are the passages that a question needs, as its data set says. A retrieval "
            "brings another one where it brings a support that none before it brought. A policy "
            "that needs no passage for what its model knows brings fewer. On the test half, at "
            "the chosen settings."
        ),
    )
    return Section("What retrievals brought", (table,))


def _row(analysis: Analysis, contender: Contender) -> tuple[Cell, ...]:
    at = analysis.chosen(contender)
    test = analysis.halved.test
    known = test.column(SUPPORTS_KNOWN)[at] > 0
    whole = test.column(ALL_SUPPORTS_FOUND)[at] > 0
    scores = test.column(analysis.measure)[at]
    return (
        text(contender.name),
        estimated(analysis.estimate(of_setting_chosen(analysis, contender, RETRIEVALS_TOLD))),
        *(
            estimated(analysis.estimate(_share(analysis, contender, part, of)), missing="none")
            for part, of, _ in _SHARES
        ),
        _mean(scores[whole]),
        number(float(whole.sum())),
        _mean(scores[known & ~whole]),
    )


def _share(analysis: Analysis, contender: Contender, part: str, of: str) -> Statistic:
    parts = of_setting_chosen(analysis, contender, part)
    wholes = of_setting_chosen(analysis, contender, of)

    def statistic(halved: HalvedMeans) -> Floats:
        return share(parts(halved), wholes(halved))

    return statistic


def _mean(scores: Floats) -> Cell:
    return number(float(np.mean(scores)) if len(scores) else None, missing="none")
