"""The decisions of an answer in a table: one row a sentence, from the events of the answer."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from scaar.console.data_tables import NOTHING, Cell, Column, DataTable, Mark, data_table
from scaar.console.passage_names import name_of
from scaar.console.record_rows import shortened
from scaar.core.types import (
    AcceptedSentence,
    AnswerDrafted,
    AnswerEvent,
    JudgedWord,
    PassagesRetrieved,
    Query,
    QueryBuilt,
    RetrievalWeighed,
    SentenceAccepted,
    SentenceJudged,
)

COLUMNS = (
    Column("Sentence", "Number of the sentence, from 1."),
    Column("Draft", "The sentence as the model drafted it."),
    Column("Decision", "Whether the answer retrieved for the draft."),
    Column(
        "Triggering word",
        "The first uncertain word, or the most influential one of a sentence that is uncertain as "
        "a whole, with the value that the trigger compared with the threshold.",
    ),
    Column("Query", "What was searched for."),
    Column("Passages", "Number of passages that were found, and their files or titles."),
    Column("Accepted", "The accepted sentence."),
)


_SentenceEvent = (
    SentenceJudged | RetrievalWeighed | QueryBuilt | PassagesRetrieved | SentenceAccepted
)
_OF_SENTENCES = (SentenceJudged, RetrievalWeighed, QueryBuilt, PassagesRetrieved, SentenceAccepted)


@dataclass(frozen=True, slots=True)
class _Decision:
    """What the events say of a sentence."""

    sentence: int
    judged: SentenceJudged | None = None
    weighed: RetrievalWeighed | None = None
    query: Query | None = None
    found: PassagesRetrieved | None = None
    accepted: AcceptedSentence | None = None


def decision_table(events: Iterable[AnswerEvent]) -> DataTable:
    """Return the decisions; a sentence that is written again has a row for each time."""
    decisions: list[_Decision] = []
    last: dict[int, int] = {}
    for event in events:
        if isinstance(event, AnswerDrafted):
            # The answer is written again, from sentence 0.
            last.clear()
        elif isinstance(event, _OF_SENTENCES):
            if event.sentence not in last:
                last[event.sentence] = len(decisions)
                decisions.append(_Decision(event.sentence))
            at = last[event.sentence]
            decisions[at] = _with(decisions[at], event)
    return data_table("Decisions", COLUMNS, [_row(each) for each in decisions])


def _with(decision: _Decision, event: _SentenceEvent) -> _Decision:
    match event:
        case SentenceJudged():
            return replace(decision, judged=event)
        case RetrievalWeighed():
            return replace(decision, weighed=event)
        case QueryBuilt():
            return replace(decision, query=event.query)
        case PassagesRetrieved():
            return replace(decision, found=event)
        case SentenceAccepted():
            return replace(decision, accepted=event.accepted)


def _row(decision: _Decision) -> tuple[Cell, ...]:
    judged, accepted = decision.judged, decision.accepted
    word = judged.words[judged.trigger] if judged and judged.trigger is not None else None
    return (
        Cell(str(decision.sentence + 1)),
        _text(judged.text) if judged else Cell("–", note="not judged"),
        Cell(marks=(_mark(decision),)),
        _word(word) if word else NOTHING,
        _text(decision.query.text) if decision.query else NOTHING,
        _passages(decision.found) if decision.found else NOTHING,
        _accepted(accepted) if accepted else NOTHING,
    )


def _mark(decision: _Decision) -> Mark:
    if decision.found is not None:
        return Mark("retrieved")
    if decision.query is not None:
        return Mark("search failed", "warn")
    judged = decision.judged
    if judged is not None and (judged.abstains or judged.trigger is not None):
        return Mark("uncertain, budget used up", "warn")
    if decision.weighed is not None:
        return Mark(decision.weighed.decision.value)
    return Mark("certain", "good") if judged is not None else Mark("no retrieval")


def _word(word: JudgedWord) -> Cell:
    value, sign = (word.value, ">") if word.value is not None else (word.probability, "<")
    name = "value" if word.value is not None else "P′"
    if value is None:
        return Cell(shortened(word.text), foreign=True)
    note = f"{name} {value:.3g} {sign} threshold {word.threshold:.3g}"
    if not word.uncertain:
        note = f"{name} {value:.3g}, threshold {word.threshold:.3g}"
    return Cell(shortened(word.text), note=note, foreign=True)


def _passages(found: PassagesRetrieved) -> Cell:
    return Cell(str(len(found.passages)), note="; ".join(map(name_of, found.passages)))


def _accepted(accepted: AcceptedSentence) -> Cell:
    cell = _text(accepted.text)
    if accepted.degraded is None:
        return cell
    failure = accepted.degraded
    marks = (Mark("degraded", "warn"),)
    return replace(cell, marks=marks, note=f"{failure.reason} in {failure.stage}")


def _text(text: str) -> Cell:
    return Cell(shortened(text.strip()) or "–", foreign=True)
