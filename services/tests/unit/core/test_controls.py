import pytest

from scaar.core.controls import Control, control_of, controlled_name


@pytest.mark.parametrize("control", Control)
@pytest.mark.parametrize("scorer", ["lab-cross-encoder", "cross-encoder/stsb-roberta+v2"])
def test_the_name_of_a_scorer_contains_its_control(scorer: str, control: Control) -> None:
    assert control_of(scorer) is None
    assert control_of(controlled_name(scorer, control)) is control


def test_no_name_is_that_of_no_control() -> None:
    assert control_of("") is None
    assert control_of("permuted") is None
