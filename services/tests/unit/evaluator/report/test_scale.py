from hypothesis import given
from hypothesis import strategies as st

from scaar.evaluator.report.scale import scale

VALUES = st.lists(st.floats(0, 1e6), min_size=1, max_size=10)


@given(VALUES, st.sampled_from([0.0, 0.03]))
def test_every_value_has_a_place_between_the_ends(values: list[float], margin: float) -> None:
    axis = scale(values, 50, 700, margin=margin)
    for value in values:
        assert 50 <= axis.place(value) <= 700
    assert axis.low >= 0


@given(VALUES)
def test_the_ticks_are_few_and_written_exactly(values: list[float]) -> None:
    axis = scale(values, 0, 100)
    assert 2 <= len(axis.ticks) <= 9
    written = [axis.written(tick) for tick in axis.ticks]
    assert len(set(written)) == len(written)
    for tick, number in zip(axis.ticks, written, strict=True):
        assert abs(float(number.replace(",", "")) - tick) <= 1e-6 * axis.step


def test_scores_have_round_ticks() -> None:
    axis = scale([0.41, 0.88], 380, 0)
    assert [axis.written(tick) for tick in axis.ticks] == ["0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]
    assert axis.place(0.4) == 380
    assert axis.place(0.9) == 0
