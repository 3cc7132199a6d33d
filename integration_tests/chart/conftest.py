"""The chart rendered, scenario by scenario."""

import pytest

from .rendering import Rendered
from .scenarios import SCENARIOS


@pytest.fixture(params=list(SCENARIOS))
def release(request: pytest.FixtureRequest) -> Rendered:
    """The release of every scenario."""
    return SCENARIOS[request.param].rendered()
