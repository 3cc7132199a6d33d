import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.loop.description_cache import CachedDescription


class Part:
    def __init__(self, *says: str | Exception) -> None:
        self.says = list(says)

    async def describe(self) -> str:
        said = self.says.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


async def test_a_part_is_described_again_after_a_second() -> None:
    now = 0.0
    described = CachedDescription(Part("one", "two").describe, lambda: now)
    assert [await described.get(), await described.get()] == ["one", "one"]
    now = 0.99
    assert await described.get() == "one"
    now = 1.0
    assert await described.get() == "two"


async def test_a_failure_is_not_cached() -> None:
    described = CachedDescription(Part(BackendUnavailable("gone"), "one").describe, lambda: 0.0)
    with pytest.raises(BackendUnavailable):
        await described.get()
    assert await described.get() == "one"
