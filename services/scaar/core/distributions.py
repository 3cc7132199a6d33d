"""Optional parts of an installation: the libraries of extras, and the distribution scaar-lab."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from scaar.core.errors import CapabilityMissing

LAB_SEED = 2000
"""Seed of the lab's default world, whose index is ``lab``."""
_LAB = "scaar.lab"


def lab_is_installed() -> bool:
    """Return whether scaar-lab is installed, or in place in a checkout."""
    return find_spec(_LAB) is not None


@contextmanager
def library_required(what: str, extra: str, **metadata: str) -> Iterator[None]:
    """Import the libraries of an extra in the block; ``what`` names the feature that needs them.

    Raises:
        CapabilityMissing: a library is not installed; the error names it and the extra, and has the
            metadata.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = str(error.name).partition(".")[0]
        if library == "scaar":
            raise
        text = f"{what} needs {library}: install scaar[{extra}]"
        raise CapabilityMissing(text, **metadata) from error


@contextmanager
def lab_required(what: str) -> Iterator[None]:
    """Import modules of scaar-lab in the block; ``what`` names the feature that needs them.

    Raises:
        CapabilityMissing: scaar-lab is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != _LAB and not str(error.name).startswith(f"{_LAB}."):
            raise
        text = f"{what} needs the lab's world and models: install scaar-lab"
        raise CapabilityMissing(text) from error
