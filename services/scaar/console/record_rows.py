"""The table of answers: one row a record."""

from collections.abc import Sequence
from urllib.parse import quote

from scaar.console.data_tables import Cell, Column, DataTable, Mark, data_table
from scaar.console.number_text import count, decimal, ms_text, time
from scaar.core.records import RecordContent, RecordSummary, Verdict

_TONES = {Verdict.CORRECT: "good", Verdict.WRONG: "bad", Verdict.PARTIAL: "warn"}
MAX_SHOWN_CHARACTERS = 160
COLUMNS = (
    Column("Question", "The last question of the request. It links to the decisions."),
    Column("Answer", "The short form of the answer, or the reason of its failure."),
    Column("Outcome", "Whether the answer retrieved, is degraded, failed, or has a verdict."),
    Column(
        "Policy",
        "The policy that decided when to retrieve and what to search for, with the index that was "
        "searched and the tenant that asked.",
    ),
    Column(
        "Retrievals",
        "Number of retrievals of the answer, and the drafts that the trigger found uncertain, of "
        "those that it judged.",
        number=True,
    ),
    Column(
        "Mean P′",
        "Mean probability of the words of the judged drafts, 0 to 1: the geometric mean over the "
        "tokens of a word.",
        number=True,
    ),
    Column(
        "Generated",
        "Tokens that the model wrote, discarded drafts included.",
        "tokens",
        number=True,
    ),
    Column("Latency", "Time from the request to the end of the answer.", number=True),
    Column("Time", "Time of the request.", "UTC"),
)


def record_table(records: Sequence[RecordSummary], *, caption: str = "Answers") -> DataTable:
    """Return a table of records."""
    return data_table(caption, COLUMNS, [_row(each) for each in records])


def _row(record: RecordSummary) -> list[Cell]:
    return [
        _question(record),
        _answer(record),
        Cell(marks=_marks(record)),
        Cell(
            record.policy,
            href=f"/policies/{quote(record.policy, safe='')}",
            note=f"index {record.index or 'none'}, tenant {record.tenant}",
        ),
        Cell(
            f"{record.retrievals:,}",
            note=f"{record.uncertain_drafts:,} of {record.judged_drafts:,} uncertain",
        ),
        decimal(record.mean_probability),
        count(record.generated_tokens),
        Cell(ms_text(record.latency_ms)),
        time(record.created_at),
    ]


def _question(record: RecordSummary) -> Cell:
    href = f"/answers/{quote(record.id, safe='')}"
    match record.content:
        case RecordContent.FULL if record.question.strip():
            return Cell(shortened(record.question), href=href, foreign=True)
        case RecordContent.HASHED if record.question:
            return Cell(record.question[:16], href=href, note="digest of the question", code=True)
        case RecordContent.FULL:
            return Cell(record.id, href=href, note="the question is blank", code=True)
        case _:
            return Cell(record.id, href=href, note="recorded without texts", code=True)


def _answer(record: RecordSummary) -> Cell:
    if record.failure:
        return Cell(record.failure, code=True)
    if record.content is RecordContent.HASHED and record.answer:
        return Cell(record.answer[:16], note="digest of the answer", code=True)
    if record.answer:
        return Cell(shortened(record.answer), foreign=True)
    return Cell("–", note="" if record.content is RecordContent.FULL else "not recorded")


def _marks(record: RecordSummary) -> tuple[Mark, ...]:
    marks = []
    if record.failure:
        word = "cancelled" if record.failure == "CANCELLED" else "failed"
        marks.append(Mark(word, "warn" if word == "cancelled" else "bad"))
    marks.append(Mark("retrieved") if record.retrievals else Mark("not retrieved"))
    if record.degraded_sentences:
        marks.append(Mark("degraded", "warn"))
    if record.abstained:
        marks.append(Mark("abstained", "warn"))
    if record.feedback is not None:
        verdict = record.feedback.verdict
        marks.append(Mark(verdict.value, _TONES[verdict]))
    return tuple(marks)


def shortened(text: str) -> str:
    """Return the start of a long text."""
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}…"
