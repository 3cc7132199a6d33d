import pytest

from scaar.core.errors import Overloaded
from scaar.generator.call_slots import CallSlots


def test_a_rejection_has_the_mean_time_until_a_slot_is_free() -> None:
    now = 0.0
    slots = CallSlots(4, clock=lambda: now)
    for _ in range(100):
        with slots.slot():
            now += 8.0
    with slots.slot(), slots.slot(), slots.slot(), slots.slot():
        refused = pytest.raises(
            Overloaded, match=r"^the limit of 4 concurrent generations is reached$"
        )
        with refused as caught, slots.slot():
            pass
        assert caught.value.retry_after_s == pytest.approx(2.0, rel=0.01)
    assert slots.in_use == 0
