import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.generator.engines.decoding.next_token import Sampler, choose, likeliest, named


def test_logprob_and_entropy_are_those_of_the_distribution():
    probabilities = np.array([0.5, 0.25, 0.125, 0.125])
    chosen = choose(np.log(probabilities).astype(np.float32) + 700)
    assert chosen.id == 0
    assert chosen.logprob == pytest.approx(math.log(0.5), abs=1e-4)
    assert chosen.entropy == pytest.approx(1.75 * math.log(2), abs=1e-4)


def test_an_impossible_token_adds_nothing_to_the_entropy():
    chosen = choose(np.array([0.0, -np.inf, 0.0], np.float32))
    assert chosen.entropy == pytest.approx(math.log(2))


def test_a_broken_distribution_has_no_numbers():
    chosen = choose(np.array([0.0, np.nan], np.float32))
    assert (chosen.logprob, chosen.entropy) == (None, None)


def test_ties_are_broken_by_id():
    logits = np.array([1, 3, 2, 3], np.float32)
    chosen = choose(logits)
    assert chosen.id == 1
    assert [top.id for top in likeliest(chosen.logprobs, 3, str)] == [1, 3, 2]
    assert likeliest(chosen.logprobs, 0, str) == ()


@given(st.lists(st.integers(-5, 0), min_size=1, max_size=30), st.integers(0, 40))
def test_the_likeliest_are_the_first_of_all_in_order(logprobs, count):
    best = sorted(range(len(logprobs)), key=lambda each: (-logprobs[each], each))[:count]
    found = likeliest(np.array(logprobs, np.float64), count, str)
    assert [(top.id, top.text, top.logprob) for top in found] == [
        (each, str(each), logprobs[each]) for each in best
    ]


def test_a_broken_distribution_has_no_likeliest():
    assert likeliest(np.array([np.nan, np.nan]), 1, str) == ()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_as_often_as_their_probability_at_the_temperature(temperature):
    logprobs = np.log([0.6, 0.3, 0.1, 0.0 + 1e-300])
    expected = np.array([0.6, 0.3, 0.1, 0.0]) ** (1 / temperature)
    sampler, count = Sampler(temperature, seed=1), 20_000
    drawn = np.bincount([sampler.draw(logprobs) for _ in range(count)], minlength=4)
    np.testing.assert_allclose(drawn / count, expected / expected.sum(), atol=0.012)


def test_a_seed_draws_the_same_tokens_and_no_seed_draws_others():
    logprobs = np.log(np.full(1000, 1e-3))

    def draws(seed):
        sampler = Sampler(1.0, seed)
        return [sampler.draw(logprobs) for _ in range(20)]

    assert draws(5) == draws(5)
    assert draws(5) != draws(6)
    assert draws(None) != draws(None)


def test_an_impossible_token_is_never_drawn():
    sampler = Sampler(2.0, seed=3)
    logprobs = np.array([-np.inf, 0.0, -np.inf])
    assert {sampler.draw(logprobs) for _ in range(100)} == {1}


def test_the_lowest_temperature_draws_the_most_likely_token_without_a_warning() -> None:
    sampler = Sampler(5e-324, seed=1)
    assert {sampler.draw(np.log([0.2, 0.5, 0.3])) for _ in range(20)} == {1}


def test_a_drawn_token_has_the_numbers_of_the_models_distribution():
    probabilities = np.array([0.5, 0.25, 0.25])
    chosen = choose(np.log(probabilities), Sampler(0.01, seed=1).draw)
    assert chosen.id == 0
    assert chosen.logprob == pytest.approx(math.log(0.5))
    assert chosen.entropy == pytest.approx(1.5 * math.log(2))
    assert [each.logprob for each in named(chosen.logprobs, (2, 0), ("c", "a"))] == pytest.approx(
        [math.log(0.25), math.log(0.5)]
    )
