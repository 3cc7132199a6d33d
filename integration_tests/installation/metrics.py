"""Metrics of an installation, summed over all processes."""

import asyncio
from collections.abc import Callable
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from .access import Access
from .client import PATIENCE_S


class Metrics:
    """Samples of all reachable URLs."""

    def __init__(self, samples: list[Sample]) -> None:
        self._samples = samples

    def total(self, name: str, **labels: str) -> float:
        """Return the sum of the samples with this name and these labels."""
        return sum(
            each.value
            for each in self._samples
            if each.name == name and labels.items() <= each.labels.items()
        )

    def names(self) -> set[str]:
        """Return the names of all samples."""
        return {each.name for each in self._samples}

    def services(self) -> set[str]:
        """Return the names of the services with metrics, as on the command line."""
        return {e.labels["service"] for e in self._samples if e.name == "scaar_service_info"}


async def read(access: Access) -> Metrics:
    """Read the current metrics."""
    return Metrics(await asyncio.to_thread(_samples, access.metrics()))


async def until(access: Access, true: Callable[[Metrics], bool]) -> Metrics:
    """Wait until a condition on the metrics holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not true(found := await read(access)):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        return found


def _samples(urls: tuple[str, ...]) -> list[Sample]:
    found: list[Sample] = []
    for url in urls:
        try:
            with urlopen(url, timeout=PATIENCE_S) as response:
                text = response.read().decode()
        except OSError:
            continue
        for family in text_string_to_metric_families(text):
            found += family.samples
    return found
