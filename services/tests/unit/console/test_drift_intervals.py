"""The intervals of the figures of the drift page."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import pytest

from scaar.console.data_tables import Mark
from scaar.console.drift_figures import drift_series, merged, overview_table
from scaar.console.drift_intervals import (
    MIN_ANSWERS,
    Interval,
    failed_interval,
    latency_interval,
    probability_interval,
    retrievals_interval,
    trigger_rate_interval,
    wilson,
)
from scaar.console.drift_rates import RATES
from scaar.core.records import RecordGroup, RecordMoments
from scaar.testing.console_back_ends import ARTEFACT, catalog
from tests.unit.console.test_drift_figures import group


@dataclass
class Sample:
    """An answer: its drafts, the uncertain ones, its retrievals, mean P' and latency."""

    judged: int
    uncertain: int
    retrievals: int = 1
    probability: float = 0.5
    latency: float = 100.0


def group_of(answers: Sequence[Sample]) -> RecordGroup:
    return group(
        answers=len(answers),
        judged_drafts=sum(each.judged for each in answers),
        uncertain_drafts=sum(each.uncertain for each in answers),
        retrievals=sum(each.retrievals for each in answers),
        mean_probability=fmean(each.probability for each in answers),
        mean_latency_ms=fmean(each.latency for each in answers),
        moments=RecordMoments(
            retrievals_squared=sum(each.retrievals**2 for each in answers),
            judged_squared=sum(each.judged**2 for each in answers),
            uncertain_squared=sum(each.uncertain**2 for each in answers),
            judged_uncertain=sum(each.judged * each.uncertain for each in answers),
            with_probability=len(answers),
            probability_squared=sum(each.probability**2 for each in answers),
            latency_squared=sum(each.latency**2 for each in answers),
        ),
    )


def test_wilson_is_the_published_interval() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), Table I, method 3: 81 of 263 and 0 of 20.
    assert wilson(81 / 263, 263).low == pytest.approx(0.2553, abs=5e-5)
    assert wilson(81 / 263, 263).high == pytest.approx(0.3662, abs=5e-5)
    assert wilson(0, 20).high == pytest.approx(0.1611, abs=5e-5)
    assert wilson(0, 20).low == pytest.approx(0)


def drafts_of_one_kind(chance: random.Random) -> Sample:
    """An answer whose drafts are all uncertain or all certain, with probability 0.3."""
    judged = chance.randint(1, 5)
    return Sample(judged, judged if chance.random() < 0.3 else 0)


def independent_drafts(chance: random.Random) -> Sample:
    judged = chance.randint(1, 5)
    return Sample(judged, sum(chance.random() < 0.3 for _ in range(judged)))


@pytest.mark.parametrize("answer_by", [drafts_of_one_kind, independent_drafts])
def test_95_of_100_intervals_of_the_trigger_rate_have_the_true_rate(
    answer_by: Callable[[random.Random], Sample],
) -> None:
    chance, having = random.Random(7), 0
    for _ in range(1_000):
        interval = trigger_rate_interval(group_of([answer_by(chance) for _ in range(60)]))
        assert interval is not None
        having += interval.has(0.3)
    assert 0.92 <= having / 1_000 <= 0.98


def test_drafts_that_depend_on_each_other_count_as_fewer() -> None:
    chance = random.Random(1)
    found = group_of([drafts_of_one_kind(chance) for _ in range(200)])
    naive = wilson(found.uncertain_drafts / found.judged_drafts, found.judged_drafts)
    interval = trigger_rate_interval(found)
    assert interval is not None
    assert interval.high - interval.low > 1.4 * (naive.high - naive.low)


def test_a_rate_of_0_has_an_interval_by_the_number_of_answers() -> None:
    interval = trigger_rate_interval(group_of([Sample(4, 0)] * 20))
    assert interval == wilson(0, 20)


def test_95_of_100_intervals_of_means_have_the_true_mean() -> None:
    chance = random.Random(3)
    having = {retrievals_interval: 0, probability_interval: 0, latency_interval: 0}
    true = {retrievals_interval: 1.5, probability_interval: 0.5, latency_interval: 300.0}
    for _ in range(1_000):
        answers = [
            Sample(1, 0, chance.randint(0, 3), chance.random(), chance.expovariate(1 / 300))
            for _ in range(80)
        ]
        for of_group in having:
            interval = of_group(group_of(answers))
            assert interval is not None
            having[of_group] += interval.has(true[of_group])
    assert all(0.92 <= count / 1_000 <= 0.98 for count in having.values())


def test_groups_of_tenants_and_periods_have_the_interval_of_all_their_answers() -> None:
    chance = random.Random(5)
    answers = [independent_drafts(chance) for _ in range(50)]
    parts = [group_of(answers[:13]), group_of(answers[13:])]
    assert trigger_rate_interval(merged(parts)) == trigger_rate_interval(group_of(answers))


def test_few_answers_and_records_without_sums_have_no_interval() -> None:
    few = group_of([Sample(2, 1)] * (MIN_ANSWERS - 1))
    assert trigger_rate_interval(few) is None
    assert retrievals_interval(few) is None
    assert failed_interval(few) is None
    assert merged([group_of([Sample(2, 1)] * 20), group(answers=20)]).moments is None
    assert trigger_rate_interval(group(answers=20, judged_drafts=40)) is None


def test_a_figure_has_its_interval_in_its_unit() -> None:
    rate = RATES[0]
    found = group_of([Sample(4, 1)] * 10 + [Sample(4, 0)] * 10)
    interval = rate.interval_of(found)
    assert rate.interval_text(found).startswith("[")
    assert isinstance(interval, Interval)
    assert 0 < interval.low < 12.5 < interval.high < 100
    assert "95% interval" in rate.explained
    assert "95%" not in RATES[-1].explained


@pytest.mark.parametrize(("answers", "tone"), [(12, "plain"), (3_000, "warn")])
async def test_a_difference_that_chance_explains_is_no_warning(answers: int, tone: str) -> None:
    # A third of the drafts is uncertain where the artefact expects a quarter.
    found = group_of([Sample(1, 1), Sample(1, 0), Sample(1, 0)] * (answers // 3))
    tuned = replace(found, policy="flare-1.4", artefact_digest=ARTEFACT.digest)
    series = drift_series([tuned], await catalog().list_policies())
    cell = overview_table(series).rows[0][1]
    assert cell.note.endswith(", expected 25.0, difference +8.3")
    assert cell.marks == (Mark("over 25% off", tone),)
