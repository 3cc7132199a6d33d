"""Decimals of numbers in a message."""

import pytest

from scaar.core.text.decimals import decimals_apart


@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        (0.262, 0.373, ("0.26", "0.37")),
        (0.8, 0.8001, ("0.8000", "0.8001")),
        (0.99999, 1.0, ("0.999990", "1.000000")),
        (0.5, 0.5, ("0.500000", "0.500000")),
    ],
)
def test_two_numbers_have_the_decimals_in_which_they_differ(
    one: float, other: float, texts: tuple[str, str]
) -> None:
    assert decimals_apart(one, other) == texts
