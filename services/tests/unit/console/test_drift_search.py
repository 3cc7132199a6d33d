"""The form of the drift page."""

from urllib.parse import parse_qsl

import pytest

from scaar.console.drift_search import PERIODS, read_drift_search

NOW = 1_907_757_000.0
"""2030-06-15, 12:30."""


def test_the_last_30_days_are_shown_by_default() -> None:
    search = read_drift_search({}, now=NOW)
    assert search.filter.since == "2030-05-17T00:00:00Z"
    assert search.filter.until == "2030-06-16T00:00:00Z"
    assert len(search.starts) == 30
    assert search.label(search.starts[-1]) == "2030-06-15"


@pytest.mark.parametrize("name", PERIODS)
def test_periods_start_at_multiples_of_their_length(name: str) -> None:
    search = read_drift_search({"period": name}, now=NOW)
    assert search.first % PERIODS[name].seconds == 0
    assert search.end - PERIODS[name].seconds < NOW <= search.end


def test_earlier_and_later_periods_are_links_to_searches() -> None:
    search = read_drift_search({"period": "hour", "policy": "flare"}, now=NOW)
    earlier = read_drift_search(dict(parse_qsl(search.moved(-48))), now=NOW)
    assert earlier.end == search.first
    assert earlier.filter.policy == "flare"
    assert read_drift_search(dict(parse_qsl(earlier.moved(48))), now=NOW).starts == search.starts


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("period", "year"),
        ("until", "soon"),
        ("until", "0001-01-01T00:00+05:00"),
        ("until", "9999-12-31T23:59-05:00"),
        ("index", "x" * 65),
    ],
)
def test_an_invalid_field_is_named_and_its_default_taken(field: str, value: str) -> None:
    search = read_drift_search({field: value}, now=NOW)
    assert list(search.problems) == [field]
    assert search.starts == read_drift_search({}, now=NOW).starts


@pytest.mark.parametrize("until", ["0001-01-01", "9999-12-31T23:59:59+00:00"])
def test_extreme_times_are_within_the_range_of_the_records(until: str) -> None:
    search = read_drift_search({"until": until}, now=NOW)
    assert 0 <= search.first < search.end
