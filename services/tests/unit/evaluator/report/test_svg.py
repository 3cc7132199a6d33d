import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.evaluator.report.model import Bars, Figure, Point, Series
from scaar.evaluator.report.svg import NARROW, WIDE, Canvas, bars_svg, figure_svg

NAMES = ("scaar", "flare query=pfq", "scaar trigger=surprisal query=current_sentence", "a<b & c")
SVG = "{http://www.w3.org/2000/svg}"
SCORES = st.floats(0, 1)


def _figure(points: list[tuple[float, float]], names: tuple[str, ...] = ("scaar",)) -> Figure:
    series = tuple(
        Series(name, tuple(Point(x, y, y_range=(y * 0.9, y)) for x, y in points), tuple(points))
        for name in names
    )
    return Figure("f", "Title", "x", "y", series, alternative="Words.")


def _places(drawn: str) -> list[tuple[float, float]]:
    """The places of markers and texts."""
    root = ElementTree.fromstring(drawn)
    found = [
        (float(text.attrib["x"]), float(text.attrib["y"]))
        for text in root.iter(f"{SVG}text")
        if "x" in text.attrib
    ]
    for path in root.iter(f"{SVG}path"):
        if path.attrib["class"] in ("m", "m o"):
            match = re.match(r"M([\d.-]+) ([\d.-]+)", path.attrib["d"])
            assert match
            found.append((float(match[1]), float(match[2])))
    return found


@given(st.lists(st.tuples(st.floats(0, 500), SCORES), min_size=1, max_size=12))
def test_everything_is_on_the_canvas(points: list[tuple[float, float]]) -> None:
    for canvas in (WIDE, NARROW):
        drawn = figure_svg(_figure(points, NAMES), canvas)
        _, _, width, height = ElementTree.fromstring(drawn).attrib["viewBox"].split()
        for x, y in _places(drawn):
            assert 0 <= x <= float(width)
            assert 0 <= y <= float(height)


@given(st.lists(st.tuples(st.floats(0, 5), SCORES), min_size=2, max_size=6))
def test_a_higher_score_is_higher_and_a_dearer_setting_further_right(
    points: list[tuple[float, float]],
) -> None:
    drawn = figure_svg(_figure(points))
    markers = re.findall(r'class="m" d="M([\d.-]+) ([\d.-]+)m', drawn)[: len(points)]
    placed = [(float(x), float(y)) for x, y in markers]
    for one, first in zip(placed, points, strict=True):
        for other, second in zip(placed, points, strict=True):
            assert one[0] <= other[0] or first[0] >= second[0]
            assert one[1] >= other[1] or first[1] >= second[1]


def test_a_figure_has_a_title_a_description_and_the_names_of_its_series() -> None:
    root = ElementTree.fromstring(figure_svg(_figure([(0, 0.5), (1, 0.7)], NAMES)))
    assert [root[0].text, root[1].text] == ["Title", "Words."]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert set(NAMES) <= set(texts)


def test_series_differ_by_marker_and_colour() -> None:
    names = tuple(f"s{number:02d}" for number in range(64))
    root = ElementTree.fromstring(figure_svg(_figure([(0.5, 0.5)], names)))
    looks = []
    for group in list(root.iter(f"{SVG}g"))[:64]:
        marker = next(path for path in group if path.attrib["class"] == "m")
        looks.append((group.attrib["class"], marker.attrib["d"].split("m", 1)[1]))
    assert len(set(looks)) == 64
    assert len({shape for _, shape in looks[:8]}) == 8


def test_series_of_one_hue_have_one_colour_and_marker_and_differ_by_dashes_or_filling() -> None:
    figure = _figure([(0.4, 0.5), (0.5, 0.5)], (*NAMES, "e", "f", "g", "h"))
    hued = replace(figure, series=tuple(replace(each, hue=5) for each in figure.series))
    drawn = figure_svg(hued)
    assert set(re.findall(r'<g class="(s\d)">', drawn)) == {"s5"}
    markers = re.findall(r'class="m(?: o)?" d="M[\d.]+ [\d.]+(m[^"]+)"', drawn)
    assert len(set(markers)) == 1
    looks = []
    for group in list(ElementTree.fromstring(drawn).iter(f"{SVG}g"))[:8]:
        line, marker = (
            next(path for path in group if path.attrib["class"].startswith(kind)) for kind in "lm"
        )
        looks.append((line.attrib.get("stroke-dasharray"), marker.attrib["class"]))
    assert len(set(looks)) == 8


def test_names_of_a_legend_do_not_overlap() -> None:
    root = ElementTree.fromstring(figure_svg(_figure([(0.5, 0.5)], NAMES * 3)))
    rows: dict[str, list[tuple[float, int]]] = {}
    for text in root.iter(f"{SVG}text"):
        if text.text in NAMES:
            rows.setdefault(text.attrib["y"], []).append((float(text.attrib["x"]), len(text.text)))
    for row in rows.values():
        for (x, letters), (after, _) in pairwise(row):
            assert after >= x + 7 * letters


@pytest.mark.parametrize("value", [0.0, 0.5, 12.0, 1_000.0])
def test_bars_are_as_long_as_their_values(value: float) -> None:
    bars = Bars("b", "Bars", "won", (("all", 1_000.0), ("some", value)), alternative="Words.")
    root = ElementTree.fromstring(bars_svg(bars))
    whole, part = (float(bar.attrib["width"]) for bar in root.iter(f"{SVG}rect"))
    assert part == pytest.approx(whole * value / 1_000, abs=0.11)


@pytest.mark.parametrize("canvas", [WIDE, NARROW])
def test_long_names_of_a_legend_are_wrapped_into_the_canvas(canvas: Canvas) -> None:
    name = "scaar:trigger=surprisal,query=current_sentence, alpha 50, word_order text, top_k 3"
    root = ElementTree.fromstring(figure_svg(_figure([(0.5, 0.5)], (name, "flare")), canvas))
    texts = [text for text in root.iter(f"{SVG}text") if text.attrib.get("text-anchor") == "start"]
    written = "".join(text.text or "" for text in texts).removesuffix("flare")
    assert written.replace(" ", "") == name.replace(" ", "")
    for text in texts:
        assert float(text.attrib["x"]) + 7.4 * len(text.text or "") <= canvas.width


def test_text_on_a_phone_has_at_least_11_pixels() -> None:
    # A page of 390 px has 20 px of margin on either side; text has 13 px on the canvas.
    assert 13 * (390 - 2 * 20) / NARROW.width >= 11


@pytest.mark.parametrize("canvas", [WIDE, NARROW])
def test_long_names_of_bars_are_above_their_bars(canvas: Canvas) -> None:
    bars = Bars("b", "Bars", "won", (("a" * 40, 3.0), ("b", 1.0)), alternative="Words.")
    root = ElementTree.fromstring(bars_svg(bars, canvas))
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.attrib["x"]) == 8
