"""The records by name: what is run for each, and the page that is made of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from record.longtail.page import LONGTAIL
from record.longtail.plan import plan as plan_longtail
from record.page import RESULTS, Page
from record.plan import plan as plan_results
from record.step import Step


@dataclass(frozen=True, slots=True)
class Record:
    """What is run, one step after another, and the page."""

    plan: Callable[[], tuple[Step, ...]]
    page: Page


RECORDS: Mapping[str, Record] = MappingProxyType(
    {
        "results": Record(plan_results, RESULTS),
        "longtail": Record(plan_longtail, LONGTAIL),
    }
)
