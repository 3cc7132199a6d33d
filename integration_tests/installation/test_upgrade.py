"""Concurrent upgrades of every service, under load: no call fails.

Replicas are found by name, and a new one serves before an old one goes, as in a release of the
chart. On Kubernetes the same is tested by integration_tests/kubernetes/test_upgrade.py.
"""

import asyncio
import time
from collections.abc import Iterator

import pytest

from . import load
from .needs import Need, needs
from .ours.upgradable_installation import UpgradableInstallation, upgradable

pytestmark = needs(Need.PROCESSES)
OLD, NEW = ({"SCAAR_TEST_VERSION": version} for version in ("1", "2"))
FOUND_S = 3.0
"""Time in which callers find a service that is ready again, with a margin for a busy machine."""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpgradableInstallation]:
    """One replica of every service, and places for two."""
    with upgradable(tmp_path_factory.mktemp("upgradable"), replicas=2) as found:
        yield found


@pytest.fixture(scope="module")
def half_rate(installation: UpgradableInstallation) -> float:
    """Half of the answers a second that one replica of each service gives undisturbed."""
    return asyncio.run(load.undisturbed_rate(installation.access, seconds=3)) / 2


async def test_no_call_fails_while_single_replicas_are_upgraded(
    installation: UpgradableInstallation, half_rate: float
) -> None:
    async with load.paced(installation.access, half_rate) as calls:
        await asyncio.to_thread(installation.upgrade, NEW)
    assert calls.failed == [], str(calls)
    assert calls.answered


async def test_calls_fail_only_while_the_only_replica_is_down(
    installation: UpgradableInstallation, half_rate: float
) -> None:
    async with load.paced(installation.access, half_rate) as calls:
        left = time.monotonic()
        await asyncio.to_thread(installation.move, "retriever")
        back = time.monotonic()
        await asyncio.sleep(2 * FOUND_S)
    assert [each for each in calls.failed if each.began > back + FOUND_S] == [], str(calls)
    assert [each for each in calls.failed if each.ended < left] == [], str(calls)
    assert calls.answered


async def test_no_call_fails_while_two_replicas_are_upgraded_and_rolled_back(
    installation: UpgradableInstallation, half_rate: float
) -> None:
    await asyncio.to_thread(installation.scale, 2)
    async with load.paced(installation.access, half_rate) as calls:
        await asyncio.to_thread(installation.upgrade, OLD)
    assert calls.failed == [], str(calls)
    assert calls.answered
