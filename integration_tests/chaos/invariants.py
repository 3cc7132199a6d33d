"""Invariants under every injection; each function returns the violations.

1. Every call ends exactly once, within its deadline and a margin, with an answer or with a status
   that permits a retry.
2. An answer equals that of the undisturbed run, up to the first sentence marked as degraded.
3. An accepted evaluation succeeds with every row exactly once, equal to that of the undisturbed
   run.
4. A search of an index that is being replaced finds one complete generation, at least as new as
   the last one that was built successfully.
5. An answer has one record, with the same text; only those of the last seconds before an
   orchestrator was killed may have none.
6. At the end no call is in progress, every part is serving, and no log has an unexpected error.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from .records import Call, Row, Search, Text

MARGIN_S = 5.0
"""Seconds that a call may exceed its deadline on a busy machine."""
UNWRITTEN_S = 5.0
"""Seconds before the kill of an orchestrator within which its answers may lose their records."""
TRANSIENT = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "ABORTED"})
"""Statuses that a valid request may get, since they permit a retry.

INTERNAL and UNKNOWN are faults, and all others mean that the request was invalid.
"""

_OWN = "/services/scaar/"
"""Part of the paths of scaar's files; the checkout's folder may be named scaar too."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated invariant, with time and description."""

    rule: str
    at: float
    text: str


def check_call(
    call: Call, expected: Mapping[tuple[str, str], Text], *, paused_s: float = 0.0
) -> list[Violation]:
    """Return the violations of a call.

    Args:
        call: The finished call.
        expected: The undisturbed answers by question and policy.
        paused_s: Time in which the server that had to end the call was paused or cut off.
    """
    found: list[Violation] = []

    def wrong(rule: str, text: str) -> None:
        found.append(Violation(rule, call.ended, f"{call.method} {call.question}: {text}"))

    if call.succeeded and call.deadline_s and call.question[0] and len(call.answers) != 1:
        wrong("ends once", f"succeeded with {len(call.answers)} answers")
    if len(call.answers) > 1:
        wrong("ends once", f"{len(call.answers)} answers in one call")
    if not call.succeeded and call.code not in TRANSIENT:
        wrong("mapped status", f"{call.code} {call.reason}: {call.details}")
    took_s, limit_s = call.ended - call.began, call.deadline_s + MARGIN_S + paused_s
    if call.deadline_s and took_s > limit_s:
        wrong("deadline", f"took {took_s:.1f} s, limit {limit_s:.1f} s, ended with {call.code}")
    for answer in call.answers:
        if text := _difference(answer, expected[call.question], may_degrade=call.may_degrade):
            wrong("right answer", text)
    return list(dict.fromkeys(found))


def check_evaluation(
    name: str, at: float, *, rows: Sequence[Row], expected: Mapping[tuple[str, str], Row]
) -> list[Violation]:
    """Return the violations of the rows of a finished evaluation."""
    found: list[Violation] = []

    def wrong(rule: str, text: str) -> None:
        found.append(Violation(rule, at, f"evaluation {name}: {text}"))

    counts = Counter(row.key for row in rows)
    for key, count in counts.items():
        if count > 1:
            wrong("rows once", f"{key} has {count} rows")
        if key not in expected:
            wrong("rows once", f"{key} was not requested")
    for key in expected.keys() - counts.keys():
        wrong("rows once", f"{key} has no row")
    for row in rows:
        if row.failure:
            wrong("right rows", f"{row.key} failed: {row.failure}")
        elif row.key in expected and row != expected[row.key]:
            wrong("right rows", f"{row} is not {expected[row.key]}")
    return found


def check_records(
    calls: Iterable[Call], recorded: Mapping[str, Sequence[str]], kills: Sequence[float]
) -> list[Violation]:
    """Return the violations of the records of answers.

    Args:
        calls: The finished calls.
        recorded: The short answers of the records, by request id.
        kills: The times at which an orchestrator was killed.
    """
    found: list[Violation] = []
    for call in calls:
        if not (call.request_id and call.succeeded):
            continue
        expected = [each.answer for each in call.answers]
        records = list(recorded.get(call.request_id, ()))
        lost = not records and any(0 <= at - call.ended <= UNWRITTEN_S for at in kills)
        if not lost and records != expected:
            text = f"{call.method} {call.question}: recorded {records}, answered {expected}"
            found.append(Violation("one record", call.ended, text))
    return found


def check_search(search: Search) -> list[Violation]:
    """Return the violations of a search."""
    generations = Counter(search.found)
    unexpected = generations.keys() - search.possible
    text = ""
    if unexpected:
        text = f"found generation {sorted(unexpected)}, expected one of {sorted(search.possible)}"
    elif len(generations) != 1 or len(search.found) != search.passages:
        text = f"found {dict(generations)}, expected {search.passages} of one generation"
    return [Violation("right search", search.ended, text)] if text else []


def check_logs(logs: Iterable[tuple[str, str]], at: float) -> list[Violation]:
    """Return a violation for every traceback in the logs that passes through scaar's code.

    Tracebacks of libraries that reconnect are not counted.
    """
    return [
        Violation("no fault", at, f"{name}: {text}")
        for name, log in logs
        for text in _tracebacks(log)
        if _OWN in text
    ]


def check_idle(
    running: Mapping[str, float], unready: Collection[str], at: float
) -> list[Violation]:
    """Return the violations of parts without callers: calls in progress, or not serving."""
    abandoned = [
        Violation("at rest", at, f"{name} has {count:g} calls in progress without a caller")
        for name, count in running.items()
        if count
    ]
    return [*abandoned, *(Violation("at rest", at, f"{name} is not serving") for name in unready)]


def _difference(answer: Text, expected: Text, *, may_degrade: bool) -> str:
    """Return how an answer differs from the expected one; empty if it does not."""
    if answer.degraded is None:
        return "" if answer == expected else f"{answer} is not {expected}"
    if not may_degrade:
        return f"degraded at sentence {answer.degraded}, which was not permitted"
    before = slice(0, answer.degraded)
    if answer.sentences[before] != expected.sentences[before]:
        return f"{answer} differs from {expected} before it was degraded"
    return ""


def _tracebacks(log: str) -> Iterator[str]:
    """Yield every traceback of a log, with its last frames, in one line."""
    lines = iter(log.splitlines())
    for line in lines:
        if line.startswith("Traceback (most recent call last)"):
            frames = list(takewhile(lambda each: each.startswith(" "), lines))
            # takewhile also consumes the line of the error, whose text the log may withhold.
            yield " / ".join(each.strip() for each in frames[-6:])
