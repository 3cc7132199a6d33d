"""The search form of the answers: filters of records from the fields of a form, and back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from scaar.core.records import MAX_TEXT_CHARACTERS, RecordFilter, Verdict
from scaar.core.types import RequestKind

PAGE_SIZES = (25, 50, 100)
TIME_EXPECTED = "must be a time such as 2030-01-31T12:00"
_CHOICES = {"yes": True, "no": False}
_NAMES = ("request_id", "policy", "tenant", "index")
MAX_NAME_CHARACTERS = {"request_id": 128, "policy": 128, "tenant": 128, "index": 64}
FIELDS = ("text", *_NAMES, "since", "until", "retrieved", "degraded", "failed", "verdict", "kind")
"""The fields of the form, beside the size and the token of the page."""
KINDS = {"": "questions", RequestKind.TASK.value: "tasks of applications"}
VERDICTS = {"any": "with any verdict", "none": "without a verdict"} | {
    each.value: each.value for each in Verdict
}


@dataclass(frozen=True, slots=True)
class RecordSearch:
    """The fields of the form as they were sent, and the filter that they select.

    ``problems`` are the invalid fields with what is expected; the filter lacks them.
    """

    fields: Mapping[str, str]
    filter: RecordFilter
    page_size: int
    page_token: str
    problems: Mapping[str, str]

    @property
    def is_filtered(self) -> bool:
        """Whether a field has a value."""
        return bool(self.fields)

    def query(self, **others: str) -> str:
        """Return the search as a query string, without the token of the page."""
        fields = {**self.fields, **others}
        if self.page_size != PAGE_SIZES[0]:
            fields["page_size"] = str(self.page_size)
        return urlencode({name: value for name, value in fields.items() if value})


def read_search(sent: Mapping[str, str]) -> RecordSearch:
    """Return the search of the fields of a form."""
    fields = {name: value for name in FIELDS if (value := sent.get(name, "").strip())}
    problems: dict[str, str] = {}
    names = {each: fields.get(each, "") for each in _NAMES}
    for name, value in names.items():
        if len(value) > MAX_NAME_CHARACTERS[name]:
            names[name] = ""
            problems[name] = f"must have at most {MAX_NAME_CHARACTERS[name]} characters"
    text = fields.get("text", "")
    if len(text) > MAX_TEXT_CHARACTERS:
        text = ""
        problems["text"] = f"must have at most {MAX_TEXT_CHARACTERS} characters"
    verdict = fields.get("verdict", "")
    if verdict and verdict not in VERDICTS:
        problems["verdict"] = f"must be one of {', '.join(VERDICTS)}"
    kind = fields.get("kind", "")
    if kind not in KINDS:
        problems["kind"] = f"must be {RequestKind.TASK} or empty"
    found = RecordFilter(
        **names,
        text=text,
        since=_time("since", fields, problems),
        until=_time("until", fields, problems),
        retrieved=_choice("retrieved", fields, problems),
        degraded=_choice("degraded", fields, problems),
        failed=_choice("failed", fields, problems),
        has_feedback={"any": True, "none": False}.get(verdict),
        verdict=Verdict(verdict) if verdict in set(Verdict) else None,
        kind=RequestKind.TASK if kind == RequestKind.TASK else RequestKind.QUESTION,
    )
    size = sent.get("page_size", "")
    page_size = int(size) if size in map(str, PAGE_SIZES) else PAGE_SIZES[0]
    return RecordSearch(fields, found, page_size, sent.get("page_token", ""), problems)


def _choice(name: str, fields: Mapping[str, str], problems: dict[str, str]) -> bool | None:
    value = fields.get(name, "")
    if value and value not in _CHOICES:
        problems[name] = "must be yes or no"
    return _CHOICES.get(value)


def _time(name: str, fields: Mapping[str, str], problems: dict[str, str]) -> str:
    """Return a time of a form, whose zone is UTC if it names none, as RFC 3339."""
    value = fields.get(name, "")
    if not value:
        return ""
    try:
        found = utc_time(value)
    except ValueError:
        problems[name] = TIME_EXPECTED
        return ""
    return found.isoformat().replace("+00:00", "Z")


def utc_time(text: str) -> datetime:
    """Return a time of RFC 3339 in UTC, which is also its zone if it names none.

    Raises:
        ValueError: it is no time, or one outside the years 1 to 9999 in UTC.
    """
    found = datetime.fromisoformat(text)
    try:
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(f"{text} is outside the years 1 to 9999 in UTC") from error
