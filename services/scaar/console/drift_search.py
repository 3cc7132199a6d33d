"""The form of the drift page: the periods that it shows, and the filters of the records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import urlencode

from scaar.console.record_search import MAX_NAME_CHARACTERS, TIME_EXPECTED, utc_time
from scaar.core.records import RecordFilter

_NAMES = ("policy", "tenant", "index")


@dataclass(frozen=True, slots=True)
class Period:
    """A length of periods: ``count`` of them are shown."""

    name: str
    seconds: int
    count: int
    label_characters: slice

    @property
    def text(self) -> str:
        """What the form offers."""
        return f"{self.count} {self.name}s"


PERIODS = {
    each.name: each
    for each in (
        Period("hour", 3_600, 48, slice(5, 16)),
        Period("day", 86_400, 30, slice(0, 10)),
        Period("week", 604_800, 26, slice(0, 10)),
    )
}


@dataclass(frozen=True, slots=True)
class DriftSearch:
    """The periods from ``first`` to before ``end``, in seconds since 1970, and the filters."""

    period: Period
    end: int
    fields: Mapping[str, str]
    problems: Mapping[str, str]
    latest: bool

    @property
    def first(self) -> int:
        """Start of the first period."""
        return self.end - self.period.count * self.period.seconds

    @property
    def starts(self) -> tuple[int, ...]:
        """Start of every period."""
        return tuple(range(self.first, self.end, self.period.seconds))

    @property
    def filter(self) -> RecordFilter:
        """The records of the periods."""
        return RecordFilter(
            tenant=self.fields.get("tenant", ""),
            policy=self.fields.get("policy", ""),
            index=self.fields.get("index", ""),
            since=stamp(self.first),
            until=stamp(self.end),
        )

    def label(self, start: int) -> str:
        """Return the label of a period: its day, or day and time."""
        return stamp(start).replace("T", " ")[self.period.label_characters]

    def query(self, **others: str) -> str:
        """Return the search as a query string, with other values of some fields."""
        fields = {"period": self.period.name, **self.fields}
        if not self.latest:
            fields["until"] = stamp(self.end)
        return urlencode({name: value for name, value in {**fields, **others}.items() if value})

    def moved(self, periods: int) -> str:
        """Return the query string of the search some periods later or earlier."""
        moved = replace(self, end=self.end + periods * self.period.seconds, latest=False)
        return moved.query()


def read_drift_search(sent: Mapping[str, str], *, now: float) -> DriftSearch:
    """Return the search of the fields of a form. The last period is that of now or ``until``."""
    problems: dict[str, str] = {}
    period = PERIODS.get(sent.get("period") or "day")
    if period is None:
        problems["period"] = f"must be one of {', '.join(PERIODS)}"
        period = PERIODS["day"]
    fields = {name: value for name in _NAMES if (value := sent.get(name, "").strip())}
    for name in tuple(fields):
        if len(fields[name]) > MAX_NAME_CHARACTERS[name]:
            problems[name] = f"must have at most {MAX_NAME_CHARACTERS[name]} characters"
            del fields[name]
    until, end = sent.get("until", "").strip(), now
    if until:
        try:
            end = seconds_of(until)
        except ValueError:
            problems["until"] = TIME_EXPECTED
    end = min(max(end, period.count * period.seconds), 4e9)
    aligned = -(-int(end) // period.seconds) * period.seconds
    return DriftSearch(period, aligned, fields, problems, latest=not until or "until" in problems)


def stamp(seconds: float) -> str:
    """Return a time in seconds since 1970 as RFC 3339 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(time: str) -> float:
    """Return a time of RFC 3339 in seconds since 1970; in UTC if it names no zone.

    Raises:
        ValueError: it is no time, or one outside the years 1 to 9999 in UTC.
    """
    return utc_time(time).timestamp()
