"""The figures of the drift page."""

import pytest

from scaar.console.drift_figures import (
    drift_charts,
    drift_series,
    merged,
    overview_table,
    period_table,
)
from scaar.console.drift_rates import RATES
from scaar.console.drift_search import read_drift_search
from scaar.core.records import RecordGroup
from scaar.testing.console_back_ends import ARTEFACT, NOW, catalog, groups_until

DAY = "2030-06-15T00:00:00Z"


def group(**values: object) -> RecordGroup:
    given: dict[str, object] = {
        **{"start": DAY, "tenant": "default", "policy": "flare", "artefact_digest": ""},
        **{"answers": 10},
    }
    return RecordGroup(**{**given, **values})  # type: ignore[arg-type]


def test_tenants_of_a_policy_are_one_series_with_means_weighted_by_answers() -> None:
    groups = [
        group(answers=30, retrievals=60, mean_probability=0.9, mean_latency_ms=100.0),
        group(tenant="acme", answers=10, mean_probability=0.5, mean_latency_ms=500.0),
    ]
    (series,) = drift_series(groups, ())
    assert series.total.answers == 40
    assert series.total.retrievals == 60
    assert series.total.mean_probability == pytest.approx(0.8)
    assert series.total.mean_latency_ms == pytest.approx(200.0)


def test_a_mean_without_a_known_probability_is_unknown() -> None:
    assert merged([group(), group()]).mean_probability is None


async def test_the_expectation_is_that_of_the_artefact_with_the_same_digest() -> None:
    groups = [
        group(policy="flare-1.4", artefact_digest=ARTEFACT.digest),
        group(policy="flare-1.4", artefact_digest="0ld"),
    ]
    series = drift_series(groups, await catalog().list_policies())
    assert {each.digest: each.expected for each in series} == {
        ARTEFACT.digest: ARTEFACT.expected,
        "0ld": None,
    }
    # Records of two artefacts are two series, distinguished by their digests.
    assert {each.name for each in series} == {
        f"flare-1.4 ({ARTEFACT.digest[:8]})",
        "flare-1.4 (0ld)",
    }


def test_rates_are_shares_of_their_own_base() -> None:
    found = group(
        **{"judged_drafts": 40, "uncertain_drafts": 10, "retrievals": 15, "failed": 1},
        **{"sentences": 50, "degraded_sentences": 5, "mean_probability": 0.7},
        mean_latency_ms=120.0,
    )
    values = {each.name: each.value(found) for each in RATES}
    assert values == {
        "trigger_rate": 25.0,
        "retrievals": 1.5,
        "probability": 0.7,
        "degraded": 10.0,
        "failed": 10.0,
        "latency": 120.0,
        "answers": 10.0,
    }


def test_a_policy_that_judges_no_draft_has_no_trigger_rate() -> None:
    assert RATES[0].value(group()) is None


def test_a_period_without_answers_is_a_gap_in_the_chart_and_no_row_of_the_table() -> None:
    search = read_drift_search({}, now=NOW.timestamp())
    series = drift_series([group(), group(start="2030-06-13T00:00:00Z")], ())
    chart = drift_charts(search, series)[-1]
    assert chart.series[0].values[-3:] == (10.0, None, 10.0)
    table = period_table(RATES[-1], search, series)
    assert [row[0].text for row in table.rows] == ["2030-06-13", "2030-06-15"]


async def test_the_overview_states_the_difference_from_the_expectation() -> None:
    series = drift_series(groups_until(NOW), await catalog().list_policies())
    row = overview_table(series).rows[0]
    assert row[0].text == "flare-1.4"
    assert ", expected 25.0, difference +" in row[1].note
    assert row[1].marks
