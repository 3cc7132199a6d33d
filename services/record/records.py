"""The records by name: the plan of each, and its page."""

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
    """The steps, in order, and the page."""

    plan: Callable[[], tuple[Step, ...]]
    page: Page


RECORDS: Mapping[str, Record] = MappingProxyType(
    {
        "results": Record(plan_results, RESULTS),
        "longtail": Record(plan_longtail, LONGTAIL),
    }
)
