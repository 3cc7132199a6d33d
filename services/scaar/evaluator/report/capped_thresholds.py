"""The share of words whose threshold was the cap (SCAAR, Eq. 3 as printed)."""

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.cells import estimated, number, text
from scaar.evaluator.report.model import Column, Section, Table
from scaar.evaluator.statistics.estimate import share
from scaar.evaluator.statistics.means import SplitMeans
from scaar.evaluator.statistics.table import CAPPED_WORDS, JUDGED_WORDS, Floats


def count_capped(analysis: Analysis) -> Section | None:
    """Return the share of capped words at every setting of ``exp_raw``; None without one."""
    judged = analysis.splits.test.column(JUDGED_WORDS).sum(axis=1)
    rows = [
        (
            text(setting.label),
            estimated(analysis.estimate(_share(at)), missing="no judged words"),
            number(policy.theta),
            number(policy.theta_cap),
            number(float(judged[at])),
        )
        for at, (setting, policy) in enumerate(
            zip(analysis.table.settings, analysis.policies, strict=True)
        )
        if policy is not None and policy.trigger == "exp_raw"
    ]
    if not rows or not judged.any():
        return None
    table = Table(
        "capped_words",
        "Share of words whose threshold was capped",
        (
            Column("setting", "setting"),
            Column("capped", "capped", decimals=4, pinned=True),
            Column("theta", "theta", decimals=3),
            Column("theta_cap", "theta_cap", decimals=2),
            Column("judged_words", "judged words", decimals=0),
        ),
        tuple(rows),
        note=(
            "With exp_raw, the cap is the threshold of a word whose contribution is above "
            "ln(theta_cap / theta). With a cap of 1 such a word triggers a retrieval at any "
            "probability. Measured on the test split."
        ),
    )
    return Section("Capped thresholds", (table,))


def _share(at: int) -> Statistic:
    def statistic(splits: SplitMeans) -> Floats:
        means = splits.test
        return share(means.of(CAPPED_WORDS)[:, at], means.of(JUDGED_WORDS)[:, at])

    return statistic
