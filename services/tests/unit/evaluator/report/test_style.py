import pytest

from scaar.evaluator.report.style import DARK, DARK_PAGE, LIGHT, LIGHT_PAGE, PAGE_STYLE
from scaar.evaluator.report.svg import COLOURS


def _luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.1)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize(("colours", "page"), [(LIGHT, LIGHT_PAGE), (DARK, DARK_PAGE)])
def test_every_colour_contrasts_with_its_page(colours: tuple[str, ...], page: str) -> None:
    assert len(colours) == COLOURS
    for colour in colours:
        assert _contrast(colour, page) >= 3


def test_black_on_white_contrasts_at_21_to_1() -> None:
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)


def test_the_page_is_dark_on_request_and_never_in_print() -> None:
    assert "@media screen and (prefers-color-scheme:dark)" in PAGE_STYLE
    assert "@media print" in PAGE_STYLE
