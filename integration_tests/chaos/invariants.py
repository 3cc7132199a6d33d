"""What must hold whatever is injected; each function returns what is wrong.

1. Every call ends exactly once, within its deadline and a margin, with an answer or with a status
   that says that another try may succeed.
2. An answer is that of the undisturbed run, up to the sentence that says that it was degraded.
3. An accepted evaluation succeeds with every row exactly once, equal to the undisturbed run's.
4. A search of an index that is being replaced finds one whole generation, no older than the last
   one whose building succeeded.
5. At the end nothing is under way, every part serves, and no log has an error nobody foresaw.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from .records import Call, Row, Search, Text

MARGIN_S = 5.0
"""How much later than its deadline a call may end, on a machine that is busy."""
TRANSIENT = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "ABORTED"})
"""What a legal request may meet: statuses that say that another try may succeed.

INTERNAL and UNKNOWN are nobody's condition, and every other one says that the request was wrong.
"""

_OWN = "/services/scaar/"
"""In the path of a file of scaar's; the project's own folder may be called scaar too."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken invariant: which, when, and by what."""

    rule: str
    at: float
    text: str


def check_call(
    call: Call, expected: Mapping[tuple[str, str], Text], *, held_s: float = 0.0
) -> list[Violation]:
    """What is wrong with a call.

    Args:
        call: The call, which has ended.
        expected: The undisturbed answers by question and policy.
        held_s: For how long the server that had to end it was itself held up meanwhile.
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
    took_s, most_s = call.ended - call.began, call.deadline_s + MARGIN_S + held_s
    if call.deadline_s and took_s > most_s:
        wrong("deadline", f"took {took_s:.1f} s of {most_s:.1f} s, then {call.code}")
    for answer in call.answers:
        if text := _difference(answer, expected[call.question], may_degrade=call.may_degrade):
            wrong("right answer", text)
    return list(dict.fromkeys(found))


def check_evaluation(
    name: str, at: float, *, rows: Sequence[Row], expected: Mapping[tuple[str, str], Row]
) -> list[Violation]:
    """What is wrong with the rows of an evaluation that has ended."""
    found: list[Violation] = []

    def wrong(rule: str, text: str) -> None:
        found.append(Violation(rule, at, f"evaluation {name}: {text}"))

    counts = Counter(row.key for row in rows)
    for key, count in counts.items():
        if count > 1:
            wrong("rows once", f"{key} has {count} rows")
        if key not in expected:
            wrong("rows once", f"{key} was not asked for")
    for key in expected.keys() - counts.keys():
        wrong("rows once", f"{key} has no row")
    for row in rows:
        if row.failure:
            wrong("right rows", f"{row.key} failed: {row.failure}")
        elif row.key in expected and row != expected[row.key]:
            wrong("right rows", f"{row} is not {expected[row.key]}")
    return found


def check_search(search: Search) -> list[Violation]:
    """What is wrong with what a search found."""
    generations = Counter(search.found)
    strange = generations.keys() - search.possible
    text = ""
    if strange:
        text = f"generation {sorted(strange)} where only {sorted(search.possible)} may be"
    elif len(generations) != 1 or len(search.found) != search.passages:
        text = f"{dict(generations)} where {search.passages} of one generation are"
    return [Violation("right search", search.ended, text)] if text else []


def check_logs(logs: Iterable[tuple[str, str]], at: float) -> list[Violation]:
    """What processes wrote of errors that passed through scaar's own code and that nobody foresaw.

    Libraries log tracebacks of connections that they lose and make again; those do not count.
    """
    return [
        Violation("no fault", at, f"{name}: {text}")
        for name, log in logs
        for text in _tracebacks(log)
        if _OWN in text
    ]


def check_still(
    under_way: Mapping[str, float], unready: Collection[str], at: float
) -> list[Violation]:
    """What is wrong with parts that nobody calls any more: work that goes on, or no readiness."""
    still = [
        Violation("at rest", at, f"{name} has {count:g} calls under way that nobody waits for")
        for name, count in under_way.items()
        if count
    ]
    return [*still, *(Violation("at rest", at, f"{name} does not serve") for name in unready)]


def _difference(answer: Text, expected: Text, *, may_degrade: bool) -> str:
    """What is wrong with an answer; empty where nothing is."""
    if answer.degraded is None:
        return "" if answer == expected else f"{answer} is not {expected}"
    if not may_degrade:
        return f"degraded at sentence {answer.degraded}, which was not asked for"
    before = slice(0, answer.degraded)
    if answer.sentences[before] != expected.sentences[before]:
        return f"{answer} differs from {expected} before it was degraded"
    return ""


def _tracebacks(log: str) -> Iterator[str]:
    """Every traceback of a log, its last frames and the error that it ends with, in one line."""
    lines = iter(log.splitlines())
    for line in lines:
        if line.startswith("Traceback (most recent call last)"):
            frames = list(takewhile(lambda each: each.startswith(" "), lines))
            # takewhile has taken the line of the error too, which the log may withhold.
            yield " / ".join(each.strip() for each in frames[-6:])
