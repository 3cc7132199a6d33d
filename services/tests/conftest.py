"""What every test shares.

Tests that read real data sets are left out aloud; property tests are deterministic, and slow
machines do not fail them.
"""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

_EXAMPLES = int(os.environ.get("SCAAR_TEST_EXAMPLES", "40"))
"""Examples of each property; CI tries 100."""
settings.register_profile(
    "scaar", derandomize=True, deadline=None, database=None, max_examples=_EXAMPLES
)
settings.load_profile("scaar")
# A shell starts processes in the background with the signal ignored, and tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

_HERE = Path(__file__).parent
_SLOW = ("contract", "lab_models", "processes")
"""Folders of tests that are slow by their nature: sockets, the lab's models, processes."""

_LEFT_OUT = pytest.StashKey[int]()
_COUNTED = "tests of real data left out"


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a SCAAR_TEST_DATA that is not a folder, rather than test nothing."""
    folder = os.environ.get("SCAAR_TEST_DATA")
    if folder and not Path(folder).is_dir():
        raise pytest.UsageError(f"SCAAR_TEST_DATA is not a folder: {folder}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow tests by folder; deselect, and count, those that lack SCAAR_TEST_DATA."""
    for item in items:
        if item.path.is_relative_to(_HERE) and item.path.relative_to(_HERE).parts[0] in _SLOW:
            item.add_marker(pytest.mark.slow)
    if os.environ.get("SCAAR_TEST_DATA"):
        return
    left_out = [item for item in items if item.get_closest_marker("real_data")]
    if left_out:
        config.stash[_LEFT_OUT] = len(left_out)
        reported: dict[str, int] = getattr(config, "workeroutput", {})
        reported[_COUNTED] = len(left_out)
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Each of several processes collects all tests, so that what one left out is what all did."""
    if left_out := getattr(node, "workeroutput", {}).get(_COUNTED):
        node.config.stash[_LEFT_OUT] = left_out


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many tests were left out, and what would bring them in."""
    if left_out := config.stash.get(_LEFT_OUT, 0):
        terminalreporter.write_line(
            f"{left_out} {_COUNTED}: set SCAAR_TEST_DATA to run them", yellow=True
        )


@pytest.fixture
def real_data() -> Path:
    """The folder of the real data sets, for tests marked `real_data`."""
    return Path(os.environ["SCAAR_TEST_DATA"])
