"""The summary: every policy at its chosen setting, and its difference from the reference."""

from dataclasses import replace

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.cells import (
    difference_cells,
    difference_columns,
    estimated,
    mark_best,
    measure_title,
    number,
    score_column,
    text,
)
from scaar.evaluator.report.listings import policy_listing
from scaar.evaluator.report.model import Cell, Column, Section, Table
from scaar.evaluator.statistics.estimate import s_eff
from scaar.evaluator.statistics.means import SplitMeans
from scaar.evaluator.statistics.selection import RETRIEVALS, of_chosen
from scaar.evaluator.statistics.table import FAILED, MISSING, Floats
from scaar.evaluator.statistics.variants import PolicyVariant

USAGE_COLUMNS = (
    Column("searches", "searches", decimals=2),
    Column("llm_calls", "model calls", decimals=2),
    Column("generated_tokens", "generated tokens", decimals=1),
    Column("prompt_tokens", "prompt tokens", decimals=1),
    Column("latency_ms", "ms", decimals=0),
)
_SHOWN = ("f1", "exact_match")
"""The measures of the summary, besides the one of the choice; the table of settings has all."""


def summarise(analysis: Analysis) -> Section:
    """Return the table of policies and the table of their differences."""
    tables = [_policies(analysis)]
    if len(analysis.variants) > 1:
        tables.append(_differences(analysis))
    return Section("Policies", tuple(tables))


def measures_shown(analysis: Analysis) -> list[str]:
    """Return the measures of a summary, the one of the choice first."""
    shown = [name for name in _SHOWN if name in analysis.table.measures]
    return [analysis.measure, *(name for name in shown if name != analysis.measure)]


def of_setting_chosen(analysis: Analysis, variant: PolicyVariant, column: str) -> Statistic:
    """Return the mean of a column at a policy's chosen setting, chosen again in every sample."""

    def statistic(splits: SplitMeans) -> Floats:
        return of_chosen(splits, variant.candidates, column=column, measure=analysis.measure)

    return statistic


def gain_per_retrieval(analysis: Analysis, variant: PolicyVariant) -> Statistic | None:
    """Return S_eff at a policy's chosen setting; None without a setting that never retrieves."""
    without = analysis.without_retrieval
    if without is None:
        return None
    score = of_setting_chosen(analysis, variant, analysis.measure)
    retrievals = of_setting_chosen(analysis, variant, RETRIEVALS)

    def statistic(splits: SplitMeans) -> Floats:
        own = splits.test.of(analysis.measure)[:, without]
        return s_eff(score(splits), own, retrievals(splits))

    return statistic


def _policies(analysis: Analysis) -> Table:
    shown = measures_shown(analysis)
    columns = (
        Column("policy", "policy"),
        *(score_column(name, measure_title(name), pinned=name == shown[0]) for name in shown),
        Column(RETRIEVALS, "retrievals (N_R)", decimals=2),
        Column("s_eff", "S_eff", decimals=1),
        *USAGE_COLUMNS,
        Column("failed", "failed or missing", decimals=0),
        Column("candidates", "candidates", decimals=0),
        Column("setting", "chosen setting"),
    )
    rows = (_row(analysis, at, shown) for at in range(len(analysis.variants)))
    return Table(
        "policies",
        "Every policy at its chosen setting",
        columns,
        mark_best(columns, rows, (*shown, "s_eff")),
        note=(
            "Means per question on the test split, with 95% intervals in brackets that include the "
            "choice of the setting. S_eff is 100 times the gain in "
            f"{measure_title(analysis.measure)} over no retrieval, per retrieval. It favours "
            "policies that retrieve rarely, so read it together with the frontier."
        ),
    )


def _row(analysis: Analysis, position: int, shown: list[str]) -> tuple[Cell, ...]:
    variant = analysis.variants[position]
    setting = analysis.chosen(variant)
    gain = gain_per_retrieval(analysis, variant)
    tested = analysis.splits.test
    lost = tested.column(FAILED)[setting].sum() + tested.column(MISSING)[setting].sum()
    test = analysis.means.test
    means = [
        estimated(analysis.estimate(of_setting_chosen(analysis, variant, column)))
        for column in (*shown, RETRIEVALS)
    ]
    return (
        text(variant.name),
        *(replace(each, link=policy_listing(position)) for each in means),
        Cell(None, note="undefined") if gain is None else estimated(analysis.estimate(gain)),
        *(number(float(test.of(column.name)[0, setting])) for column in USAGE_COLUMNS),
        number(float(lost)),
        number(len(variant.candidates)),
        text(analysis.table.settings[setting].label),
    )


def _differences(analysis: Analysis) -> Table:
    measure, reference = analysis.measure, analysis.reference.name
    compared = analysis.compare(lambda each: of_setting_chosen(analysis, each, measure))
    retrievals = analysis.compare(lambda each: of_setting_chosen(analysis, each, RETRIEVALS))
    return Table(
        "differences",
        f"Differences from {reference} at the chosen settings",
        (
            Column("policy", "policy"),
            *difference_columns(measure_title(measure), pinned=True),
            Column("retrievals", "retrievals (N_R)", decimals=2, signed=True),
        ),
        tuple(
            (
                text(each.variant.name),
                *difference_cells(each.difference),
                estimated(spent.difference),
            )
            for each, spent in zip(compared, retrievals, strict=True)
        ),
        note=(
            f"The mean of the policy minus the mean of {reference} on the same questions, with the "
            "paired 95% interval. p is two-sided; p (Holm) is corrected over all policies."
        ),
    )
