import pytest

from scaar.core.errors import Overloaded
from scaar.generator.places import Places


def test_a_refusal_says_in_what_time_a_place_is_free_on_average() -> None:
    now = 0.0
    places = Places(4, clock=lambda: now)
    for _ in range(100):
        with places.one():
            now += 8.0
    with places.one(), places.one(), places.one(), places.one():
        refused = pytest.raises(Overloaded, match=r"^4 generations are under way")
        with refused as caught, places.one():
            pass
        assert caught.value.retry_after_s == pytest.approx(2.0, rel=0.01)
    assert places.taken == 0
