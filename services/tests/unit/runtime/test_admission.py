import pytest

from scaar.core.errors import Overloaded
from scaar.runtime.admission import Admission


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_as_many_are_let_in_as_there_are_places() -> None:
    admission = Admission(2)
    with admission.place(), admission.place():
        assert admission.taken == 2
        with pytest.raises(Overloaded, match=r"^2 calls are under way"), admission.place():
            pass
        assert admission.taken == 2
    assert admission.taken == 0
    with admission.place():
        assert admission.taken == 1


def test_a_place_is_given_back_by_a_call_that_fails() -> None:
    admission = Admission(1)
    with pytest.raises(LookupError), admission.place():
        raise LookupError
    assert admission.taken == 0


def test_who_is_refused_is_told_how_long_the_calls_of_late_took() -> None:
    clock = Clock()
    admission = Admission(1, clock)
    assert admission.retry_after_s == 1.0
    for _ in range(100):
        with admission.place():
            clock.now += 5.0
    with admission.place(), pytest.raises(Overloaded) as caught, admission.place():
        pass
    assert caught.value.retry_after_s == pytest.approx(5.0, abs=0.01)


@pytest.mark.parametrize(("length_s", "told_s"), [(0.0, 0.1), (10_000.0, 60.0)])
def test_the_time_to_come_again_has_bounds(length_s: float, told_s: float) -> None:
    clock = Clock()
    admission = Admission(1, clock)
    for _ in range(100):
        with admission.place():
            clock.now += length_s
    assert admission.retry_after_s == told_s


def test_calls_that_were_refused_further_on_do_not_count_for_that_time() -> None:
    clock = Clock()
    admission = Admission(1, clock)
    for _ in range(100):
        with pytest.raises(Overloaded, match="further on"), admission.place():
            raise Overloaded("further on")
    assert (admission.taken, admission.retry_after_s) == (0, 1.0)
