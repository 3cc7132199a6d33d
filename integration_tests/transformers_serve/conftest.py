"""A real transformers serve with the lab's language model, for all tests."""

from collections.abc import Iterator

import pytest

from ..servers.transformers_serve.transformers_server import (
    TransformersServer,
    running_transformers_serve,
)


@pytest.fixture(scope="session")
def pinned() -> Iterator[TransformersServer]:
    """A server that serves and lists one model."""
    with running_transformers_serve(pinned=True) as server:
        yield server


@pytest.fixture(scope="session")
def unpinned() -> Iterator[TransformersServer]:
    """A server that loads the model of a request and lists none."""
    with running_transformers_serve(pinned=False) as server:
        yield server
