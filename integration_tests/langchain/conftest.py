"""A running orchestrator of the lab for the tests of langchain-scaar."""

from collections.abc import Iterator

import pytest

from scaar.testing.lab_installation import running_lab


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the target of a running orchestrator."""
    with running_lab(tmp_path_factory.mktemp("scaar")) as lab:
        yield lab.target
