"""PopQA: questions about the relations of entities, popular and rare.

Mallen et al., "When Not to Trust Language Models: Investigating Effectiveness of Parametric and
Non-Parametric Memories", ACL 2023. The official file is a table of tab-separated values with
lists as JSON; its rows as JSON lines and the plain layout are read too. The label ``popularity`` is
the power of ten of the subject's monthly page views: ``10^2`` is 100 to 999.
"""

import json
from collections.abc import Iterator
from dataclasses import replace

from scaar.core.prompts.untrusted import one_line
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.plain import is_plain, plain_row
from scaar.evaluator.datasets.reader import records_of, rows_of
from scaar.evaluator.datasets.records import Record, distinct
from scaar.evaluator.records import Question


def _read(source: Source) -> Iterator[Row]:
    for record in _records(source):
        if is_plain(record):
            row = plain_row(record)
            assert row.question is not None
            yield replace(row, question=replace(row.question, labels=_popularity(record)))
        else:
            yield _row(record)


def _records(source: Source) -> Iterator[Record]:
    path = source.file
    if path.name.endswith((".tsv", ".tsv.gz")):
        return rows_of(path, delimiter="\t")
    return records_of(path)


def _row(record: Record) -> Row:
    question = Question(
        id=record.identity("id"),
        question=record.text("question"),
        answers=_answers(record),
        entity=record.text("subj"),
        labels=(("kind", record.text("prop")), *_popularity(record)),
        supports=distinct(iter((record.label("s_wiki_title"),))),
    )
    return Row(record.place, question)


def _answers(record: Record) -> tuple[str, ...]:
    written = record.text("possible_answers")
    try:
        answers = json.loads(written)
    except ValueError:
        answers = None
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        record.wrong("possible_answers", f"must be a JSON list of strings, not {written[:60]!r}")
    found = distinct(one_line(answer) for answer in answers)
    if not found:
        record.wrong("possible_answers", "must have at least one string that is not empty")
    return found


def _popularity(record: Record) -> tuple[tuple[str, str], ...]:
    views = record.number("s_pop")
    return (("popularity", f"10^{len(str(views)) - 1}" if views else "0"),)


POPQA = DatasetKind(
    name="popqa",
    title="PopQA",
    layout="a table with the columns id, subj, prop, question, possible_answers, s_pop",
    marks=frozenset({"id", "question", "possible_answers", "s_pop"}),
    read=_read,
    exemplars="nq",
    max_tokens=64,
)
