"""Settings of services that the options of a command give, in the environment."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def settings_in_environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set the environment variables during the block, for this process and its children."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
