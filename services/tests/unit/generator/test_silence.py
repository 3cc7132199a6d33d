"""Limits on the silence of model servers."""

from scaar.generator.engines.served.silence import (
    BETWEEN_TOKENS_S,
    LEAST_FIRST_S,
    ReadingSpeed,
    Silence,
)


def test_a_fixed_limit_applies_to_every_silence() -> None:
    speed = ReadingSpeed(7.0)
    speed.observe(1000, 1000)
    assert speed.limits(100_000) == Silence(7.0, 7.0, 7.0)


def test_the_first_token_may_take_twice_the_time_of_reading_at_the_slowest_recent_speed() -> None:
    speed = ReadingSpeed()
    speed.observe(1000, 1)
    speed.observe(1000, 10)
    assert speed.limits(100_000).first_s == 2 * 1000
    for _ in range(8):
        speed.observe(1000, 1)
    assert speed.limits(100_000).first_s == 2 * 100


def test_no_limit_is_short_and_a_server_that_reads_has_none() -> None:
    speed = ReadingSpeed()
    speed.observe(100_000, 1)
    assert speed.limits(10) == Silence(LEAST_FIRST_S, None, BETWEEN_TOKENS_S)


def test_a_long_prompt_has_much_time_while_the_speed_is_unknown() -> None:
    assert ReadingSpeed().limits(6000).first_s == 400


def test_short_prompts_say_nothing_about_the_speed() -> None:
    speed = ReadingSpeed()
    speed.observe(20, 1)
    assert speed.expected_s(1000) is None
