from scaar.evaluator.service.pace import Pace


def test_the_rate_is_that_of_late() -> None:
    pace = Pace(started=0.0, done=0)
    for second in range(1, 301):
        pace.look(float(second), 2 * second if second <= 200 else 400 + 5 * (second - 200))
    assert pace.rate_per_s() == 5.0
    assert pace.left_s(1_000) == 20.0


def test_nothing_is_told_of_the_rest_before_anything_came() -> None:
    pace = Pace(started=10.0, done=0)
    assert (pace.rate_per_s(), pace.left_s(5)) == (0.0, None)
    pace.look(12.0, 0)
    assert (pace.rate_per_s(), pace.left_s(5)) == (0.0, None)


def test_a_clock_that_is_set_back_gives_no_rate() -> None:
    pace = Pace(started=100.0, done=0)
    pace.look(50.0, 10)
    assert (pace.rate_per_s(), pace.left_s(20), pace.left_s(10)) == (0.0, None, 0.0)
