import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.execution.progress import NoProgress
from scaar.evaluator.studies.tuning.candidates import Label
from scaar.evaluator.studies.tuning.control import choose_policy
from scaar.evaluator.studies.tuning.learning_curve import CurvePoint, check_sizes
from scaar.evaluator.studies.tuning.target import Target

from .simulated import LEARNED, SUM, SimulatedModel, questions

ASKED = questions(120)
SIZES = (20, 70)


async def curve() -> tuple[CurvePoint, ...]:
    found = await choose_policy(
        *(SimulatedModel().trajectories(), ASKED, (SUM, LEARNED), Label.WRONG),
        *(Target(budget=1.2), NoProgress()),
        curve_sizes=SIZES,
    )
    return found.curve


async def test_every_number_of_questions_is_measured_on_the_other_folds() -> None:
    few, many = await curve()
    assert (few.questions, many.questions) == SIZES
    assert len(few.chosen) == len(many.chosen) == 5
    assert many.quality.value is not None
    assert few.quality.value is not None
    assert many.searches.value == pytest.approx(1.2, rel=0.15)
    assert await curve() == (few, many)


@pytest.mark.parametrize("size", [9, 119])
def test_a_number_of_questions_out_of_range_is_refused(size: int) -> None:
    with pytest.raises(InvalidRequest, match=rf"curve_sizes: must be 10 to \d+.* not {size}"):
        check_sizes((50, size), ASKED)
    check_sizes(SIZES, ASKED)


def test_a_curve_of_fewer_questions_than_any_size_is_refused() -> None:
    text = "curve_sizes: needs 10 questions outside the largest fold, not [0-9]: tune on more"
    with pytest.raises(InvalidRequest, match=text):
        check_sizes((10,), ASKED[:9])
    check_sizes((), ASKED[:9])
