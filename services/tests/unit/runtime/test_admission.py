import pytest

from scaar.core.errors import Overloaded
from scaar.runtime.admission import Admission


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_calls_up_to_the_limit_are_admitted() -> None:
    admission = Admission(2)
    with admission.slot(), admission.slot():
        assert admission.in_progress == 2
        with (
            pytest.raises(
                Overloaded, match=r"^this service is at its limit of 2 concurrent calls$"
            ),
            admission.slot(),
        ):
            pass
        assert admission.in_progress == 2
    assert admission.in_progress == 0
    with admission.slot():
        assert admission.in_progress == 1


def test_a_failed_call_releases_its_slot() -> None:
    admission = Admission(1)
    with pytest.raises(LookupError), admission.slot():
        raise LookupError
    assert admission.in_progress == 0


def test_a_rejection_has_the_mean_duration_of_recent_calls() -> None:
    clock = Clock()
    admission = Admission(1, clock)
    assert admission.retry_after_s == 1.0
    for _ in range(100):
        with admission.slot():
            clock.now += 5.0
    with admission.slot(), pytest.raises(Overloaded) as caught, admission.slot():
        pass
    assert caught.value.retry_after_s == pytest.approx(5.0, abs=0.01)


@pytest.mark.parametrize(("length_s", "delay_s"), [(0.0, 0.1), (10_000.0, 60.0)])
def test_the_retry_delay_has_bounds(length_s: float, delay_s: float) -> None:
    clock = Clock()
    admission = Admission(1, clock)
    for _ in range(100):
        with admission.slot():
            clock.now += length_s
    assert admission.retry_after_s == delay_s


def test_calls_rejected_by_a_later_limit_do_not_count_for_the_mean() -> None:
    clock = Clock()
    admission = Admission(1, clock)
    for _ in range(100):
        with pytest.raises(Overloaded, match="further on"), admission.slot():
            raise Overloaded("further on")
    assert (admission.in_progress, admission.retry_after_s) == (0, 1.0)
