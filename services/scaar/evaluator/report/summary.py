"""The summary: every policy at the setting chosen for it, and its difference from the reference."""

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.cells import estimated, measure_title, number, score_column, text
from scaar.evaluator.report.model import Cell, Column, Section, Table
from scaar.evaluator.statistics.choice import RETRIEVALS, of_chosen
from scaar.evaluator.statistics.contenders import Contender
from scaar.evaluator.statistics.efficiency import s_eff
from scaar.evaluator.statistics.means import HalvedMeans
from scaar.evaluator.statistics.table import FAILED, MISSING, Floats

BILL_COLUMNS = (
    Column("llm_calls", "calls", decimals=2),
    Column("generated_tokens", "tokens written", decimals=1),
    Column("prompt_tokens", "tokens read", decimals=1),
    Column("latency_ms", "ms", decimals=0),
)
_SHOWN = ("exact_match", "f1")
"""The measures of the summary, beside the one of the choice; the table of settings has them all."""


def summarise(analysis: Analysis) -> Section:
    """The table of policies and the table of their differences."""
    tables = [_policies(analysis)]
    if len(analysis.contenders) > 1:
        tables.append(_differences(analysis))
    return Section("Policies", tuple(tables))


def measures_shown(analysis: Analysis) -> list[str]:
    """The measures of a summary, the one of the choice among them."""
    shown = [name for name in _SHOWN if name in analysis.table.measures]
    return shown if analysis.measure in shown else [*shown, analysis.measure]


def of_setting_chosen(analysis: Analysis, contender: Contender, column: str) -> Statistic:
    """The mean of a column under the setting chosen for a policy, in every draw anew."""

    def statistic(halved: HalvedMeans) -> Floats:
        return of_chosen(halved, contender.candidates, column=column, measure=analysis.measure)

    return statistic


def gain_per_retrieval(analysis: Analysis, contender: Contender) -> Statistic | None:
    """S_eff of the setting chosen for a policy; None where nothing was asked without retrieval."""
    without = analysis.without_retrieval
    if without is None:
        return None
    score = of_setting_chosen(analysis, contender, analysis.measure)
    retrievals = of_setting_chosen(analysis, contender, RETRIEVALS)

    def statistic(halved: HalvedMeans) -> Floats:
        own = halved.test.of(analysis.measure)[:, without]
        return s_eff(score(halved), own, retrievals(halved))

    return statistic


def _policies(analysis: Analysis) -> Table:
    shown = measures_shown(analysis)
    return Table(
        "policies",
        "Every policy at its chosen setting",
        (
            Column("policy", "policy"),
            Column("setting", "chosen setting"),
            Column("candidates", "candidates", decimals=0),
            *(score_column(name, measure_title(name)) for name in shown),
            Column(RETRIEVALS, "retrievals (N_R)", decimals=2),
            Column("s_eff", "S_eff", decimals=1),
            *BILL_COLUMNS,
            Column("failed", "failed or missing", decimals=0),
        ),
        tuple(_row(analysis, each, shown) for each in analysis.contenders),
        note=(
            "Means over the test half, a question; in brackets the 95% interval, the choice of the "
            f"setting included. S_eff is 100 times the gain in {measure_title(analysis.measure)} "
            "over no retrieval, per retrieval; it rewards rare retrieval, so read it beside "
            "the frontier."
        ),
    )


def _row(analysis: Analysis, contender: Contender, shown: list[str]) -> tuple[Cell, ...]:
    setting = analysis.chosen(contender)
    gain = gain_per_retrieval(analysis, contender)
    tested = analysis.halved.test
    lost = tested.column(FAILED)[setting].sum() + tested.column(MISSING)[setting].sum()
    test = analysis.means.test
    intervals = (*shown, RETRIEVALS)
    return (
        text(contender.name),
        text(analysis.table.settings[setting].label),
        number(len(contender.candidates)),
        *(
            estimated(analysis.estimate(of_setting_chosen(analysis, contender, column)))
            for column in intervals
        ),
        Cell(None, note="undefined") if gain is None else estimated(analysis.estimate(gain)),
        *(number(float(test.of(column.name)[0, setting])) for column in BILL_COLUMNS),
        number(float(lost)),
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
            score_column("difference", measure_title(measure), signed=True),
            Column("p", "p", decimals=4),
            Column("p_holm", "p (Holm)", decimals=4),
            Column("retrievals", "retrievals (N_R)", decimals=2, signed=True),
        ),
        tuple(
            (
                text(each.contender.name),
                estimated(each.difference),
                number(each.difference.p),
                number(each.holm),
                estimated(spent.difference),
            )
            for each, spent in zip(compared, retrievals, strict=True)
        ),
        note=(
            f"The policy's mean less that of {reference} on the same questions, with the paired "
            "95% interval; p is two-sided, and corrected over the policies by Holm's method."
        ),
    )
