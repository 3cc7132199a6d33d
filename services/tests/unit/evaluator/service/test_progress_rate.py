from scaar.evaluator.service.descriptions import ProgressRate


def test_the_rate_is_that_of_the_last_minute() -> None:
    rate = ProgressRate(started=0.0, done=0)
    for second in range(1, 301):
        rate.record(float(second), 2 * second if second <= 200 else 400 + 5 * (second - 200))
    assert rate.rate_per_s() == 5.0
    assert rate.remaining_s(1_000) == 20.0


def test_there_is_no_estimate_before_the_first_prediction() -> None:
    rate = ProgressRate(started=10.0, done=0)
    assert (rate.rate_per_s(), rate.remaining_s(5)) == (0.0, None)
    rate.record(12.0, 0)
    assert (rate.rate_per_s(), rate.remaining_s(5)) == (0.0, None)


def test_a_clock_that_is_set_back_gives_a_rate_of_0() -> None:
    rate = ProgressRate(started=100.0, done=0)
    rate.record(50.0, 10)
    assert (rate.rate_per_s(), rate.remaining_s(20), rate.remaining_s(10)) == (0.0, None, 0.0)
