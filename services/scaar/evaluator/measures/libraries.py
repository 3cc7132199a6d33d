"""Libraries of measures, loaded at their first use since they take seconds."""

from collections.abc import Iterator
from contextlib import contextmanager

from scaar.core.errors import CapabilityMissing


@contextmanager
def needs(library: str, *, extra: str = "evaluator") -> Iterator[None]:
    """Import a library inside the block.

    Raises:
        CapabilityMissing: the library is not installed; names the extra to install.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        text = f"this measure needs {library}: install scaar[{extra}]"
        raise CapabilityMissing(text) from error
