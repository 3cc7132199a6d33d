"""Line charts."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.console.line_chart import MAX_SERIES, ChartSeries, LineChart, chart_svg

PERIODS = ("a", "b", "c", "d", "e")


def chart(*series: ChartSeries, periods: tuple[str, ...] = PERIODS) -> LineChart:
    return LineChart("rate", "Trigger rate", "The rate.", periods, series)


def test_a_line_has_a_gap_where_a_period_has_no_value() -> None:
    drawn = chart_svg(chart(ChartSeries("flare", (1.0, 2.0, None, 3.0, 4.0))))
    assert drawn.count('class="line"') == 2


def test_a_single_value_is_drawn() -> None:
    drawn = chart_svg(chart(ChartSeries("flare", (0.5,)), periods=("a",)))
    assert drawn.count("marker-start") == 1


def test_the_expected_level_is_drawn_and_named() -> None:
    drawn = chart_svg(chart(ChartSeries("flare", (1.0,) * 5, expected=2.5)))
    assert "expected 2.5" in drawn


def test_series_differ_by_marker_and_dashes() -> None:
    series = [ChartSeries(str(each), (1.0,) * 5) for each in range(MAX_SERIES)]
    drawn = chart_svg(chart(*series))
    root = ElementTree.fromstring(drawn)
    markers = {each[0].get("d") for each in root.iter("marker")}
    dashes = {each.get("stroke-dasharray") for each in root.iter("path") if each.get("marker-mid")}
    assert len(markers) == MAX_SERIES
    assert len(dashes) == MAX_SERIES


def test_too_many_series_are_refused() -> None:
    series = [ChartSeries(str(each), (1.0,) * 5) for each in range(MAX_SERIES + 1)]
    with pytest.raises(ValueError, match="at most 6"):
        chart_svg(chart(*series))


def test_names_are_escaped() -> None:
    drawn = chart_svg(chart(ChartSeries("<script>&", (1.0,) * 5)))
    assert "<script>" not in drawn
    assert "&lt;script&gt;&amp;" in drawn


@given(
    st.lists(st.none() | st.floats(0, 1e9, allow_nan=False), min_size=1, max_size=40),
    st.none() | st.floats(0, 1e6, allow_nan=False),
)
def test_any_values_make_a_well_formed_chart(
    values: list[float | None], expected: float | None
) -> None:
    series = ChartSeries("flare", tuple(values), expected)
    periods = tuple(str(each) for each in range(len(values)))
    root = ElementTree.fromstring(chart_svg(chart(series, periods=periods)))
    assert root.get("role") == "img"
