"""Measures of packages."""

from collections.abc import Callable
from typing import Any

import pytest

from scaar.core.registry import ExtensionInvalid
from scaar.evaluator.measures import MEASURES


@pytest.mark.parametrize("measure", [lambda: 1.0, lambda answer: 1.0, lambda a, b, c: 1.0])
def test_a_measure_with_other_arguments_is_refused(measure: Callable[..., Any]) -> None:
    with (
        pytest.raises(ExtensionInvalid, match="must take the answer and the accepted answers"),
        MEASURES.with_parts({"mine": measure}),
    ):
        pass


@pytest.mark.parametrize("measure", [lambda answer, accepted: 1.0, lambda *both: 1.0, max])
def test_a_measure_of_two_arguments_is_taken(measure: Callable[..., Any]) -> None:
    with MEASURES.with_parts({"mine": measure}):
        assert "mine" in MEASURES
