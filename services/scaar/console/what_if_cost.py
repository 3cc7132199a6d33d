"""What other decisions would have cost: what the record shows of it, and no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scaar.console.number_text import ms_text
from scaar.core.plurals import counted
from scaar.core.records import AnswerRecord, RecordExplanation
from scaar.core.types import (
    AnswerFinished,
    SentenceAccepted,
    SentenceJudged,
    TokenDrafted,
)


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost with its unit, and what it is: exact, a lower bound or an estimate."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class _Decision:
    """A recorded decision: the position of its event, its time, and the time that it led to.

    ``following_ms`` is the time from the decision to the accepted sentence; None without one.
    """

    position: int
    retrieving: bool
    ms: float
    following_ms: float | None


def costs_of(record: AnswerRecord, found: RecordExplanation) -> tuple[Cost, ...]:
    """Return the cost of the answer up to the first decision that differs, and of that decision.

    If no decision differs, it is the cost of the answer. Empty without the times of the events.
    """
    decisions = _decisions(record)
    if len(decisions) != len(found.drafts):
        return ()
    for decision, draft in zip(decisions, found.drafts, strict=True):
        if draft.judged.retrieving != draft.recorded_retrieving:
            return (*_up_to(record, decision), _of_retrieval(decision, decisions))
    return _whole(record)


def _whole(record: AnswerRecord) -> tuple[Cost, ...]:
    if not isinstance(record.events[-1], AnswerFinished):
        return ()
    usage = record.events[-1].answer.usage
    return (
        Cost("tokens read", f"{usage.prompt_tokens:,}", "Prompt tokens of the answer: the same."),
        Cost(
            "tokens written",
            f"{usage.generated_tokens:,}",
            "Tokens that the model wrote for the answer, discarded drafts included: the same.",
        ),
        Cost("time", ms_text(usage.latency_ms), "Time of the answer, as recorded."),
    )


def _up_to(record: AnswerRecord, decision: _Decision) -> tuple[Cost, ...]:
    events = record.events[: decision.position]
    drafted = sum(isinstance(event, TokenDrafted) for event in events)
    found = []
    if "tokens" not in record.left_out:
        found.append(
            Cost(
                "tokens written",
                f"at least {drafted:,}",
                "Lower bound: the tokens of the drafts up to the decision that differs.",
            )
        )
    meaning = "Time from the request to the decision that differs, as recorded."
    return (*found, Cost("time up to it", ms_text(decision.ms), meaning))


def _of_retrieval(decision: _Decision, decisions: Sequence[_Decision]) -> Cost:
    name = "this retrieval" if decision.retrieving else "a retrieval"
    if decision.retrieving:
        meaning = "Time from the decision to the accepted sentence, as recorded: query, search and "
        meaning += "rewriting. A new answer would save about as much."
        spent = decision.following_ms
        return Cost(name, "unknown" if spent is None else f"saves about {ms_text(spent)}", meaning)
    known = [each.following_ms for each in decisions if each.retrieving]
    times = [each for each in known if each is not None]
    if not times:
        return Cost(name, "unknown", "The answer made no retrieval that shows what one would add.")
    retrievals = counted(len(times), "retrieval")
    meaning = f"Estimate: the mean of {retrievals} of this answer, from the decision "
    return Cost(name, f"adds about {ms_text(fmean(times))}", f"{meaning}to the accepted sentence.")


def _decisions(record: AnswerRecord) -> list[_Decision]:
    """Return the decisions on the judged drafts of a record; none without times."""
    if len(record.event_ms) != len(record.events):
        return []
    found: list[_Decision] = []
    for position, (event, ms) in enumerate(zip(record.events, record.event_ms, strict=True)):
        if not isinstance(event, SentenceJudged):
            continue
        after = zip(record.events[position:], record.event_ms[position:], strict=True)
        accepted = (
            at - ms
            for later, at in after
            if isinstance(later, SentenceAccepted) and later.sentence == event.sentence
        )
        found.append(_Decision(position, event.retrieving, ms, next(accepted, None)))
    return found
