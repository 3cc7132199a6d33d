"""Drafts of a model for questions, read from a file with one record per question.

A record has ``id`` and ``draft``, or ``id`` and ``sentences`` if the draft is already split. Files
of questions that contain a draft can be used directly, with the name of its field.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.prompts.conclusion import concludes
from scaar.core.text.sentences import split_sentences
from scaar.evaluator.datasets.reader import digest_of, records_of
from scaar.evaluator.datasets.records import Record
from scaar.evaluator.records import Question

DRAFT, SENTENCES = "draft", "sentences"
MAX_DRAFT_CHARACTERS = 32_000
MAX_SENTENCE_CHARACTERS = 8_000
MAX_SENTENCE_WORDS = 256
"""The last two are limits of the scorer."""

_MAX_LISTED = 5
_ESCAPES = re.compile(r'\\"|(?:\\u[0-9a-fA-F]{4})+')


@dataclass(frozen=True, slots=True)
class Draft:
    """The draft for a question; its concatenated sentences are the text."""

    question_id: str
    sentences: tuple[str, ...]

    @property
    def judged(self) -> tuple[int, ...]:
        """The positions of the sentences that a policy would judge: all that do not conclude."""
        return tuple(
            at for at, each in enumerate(self.sentences) if each.strip() and not concludes(each)
        )


@dataclass(frozen=True, slots=True)
class DraftOrigin:
    """The origin of drafts."""

    path: str
    field: str
    sha256: str


def read_drafts(path: Path, *, field: str = DRAFT) -> tuple[tuple[Draft, ...], DraftOrigin]:
    """Return the drafts of a file (JSON lines or an array, optionally gzip), and their origin.

    Escaped quotes and letters of a text that was encoded as JSON twice are decoded.

    Raises:
        InvalidRequest: naming file, record and field.
    """
    drafts: dict[str, Draft] = {}
    try:
        digest = digest_of(path)
        for record in records_of(path):
            draft = Draft(record.identity("id"), _sentences(record, field))
            if draft.question_id in drafts:
                record.wrong("id", f"{draft.question_id!r} occurs twice")
            drafts[draft.question_id] = draft
    except InvalidRequest as error:
        wrong = [
            Violation("--drafts" if each.field == "path" else each.field, each.description)
            for each in error.violations
        ]
        raise InvalidRequest(wrong) from error
    return tuple(drafts.values()), DraftOrigin(str(path), field, digest)


def drafts_of(
    questions: Sequence[Question], drafts: Sequence[Draft], *, sampled: bool
) -> Mapping[str, Draft]:
    """Return the draft of every question by id; with ``sampled`` other drafts are allowed.

    Raises:
        InvalidRequest: a question has no draft, or a draft no question; names the first.
    """
    by_id = {each.question_id: each for each in drafts}
    known = {each.id for each in questions}
    wrong = []
    if missing := [each.id for each in questions if each.id not in by_id]:
        wrong.append(_ids("has no draft of {}", missing, len(questions), "questions"))
    if not sampled and (others := [each for each in by_id if each not in known]):
        wrong.append(_ids("has drafts of no question: {}", others, len(by_id), "drafts"))
    if wrong:
        raise InvalidRequest(wrong)
    return {each.id: by_id[each.id] for each in questions}


def _ids(text: str, ids: Sequence[str], of: int, what: str) -> Violation:
    first = ", ".join(repr(each) for each in ids[:_MAX_LISTED])
    more = " ..." if len(ids) > _MAX_LISTED else ""
    return Violation("--drafts", f"{text.format(first + more)} ({len(ids)} of {of} {what})")


def _sentences(record: Record, field: str) -> tuple[str, ...]:
    if field == DRAFT and DRAFT not in record and SENTENCES in record:
        field = SENTENCES
        given = record.values(SENTENCES)
        sentences = tuple(_text(record, field, each) for each in given)
    else:
        if field not in record:
            has = ", ".join(list(record.fields)[:20]) or "none"
            record.wrong(field, f"is missing; name it by --draft-field; the record's fields: {has}")
        sentences = split_sentences(_text(record, field, record.fields[field]))
    text = "".join(sentences)
    if not text.strip():
        record.wrong(field, "must not be empty")
    if len(text) > MAX_DRAFT_CHARACTERS:
        record.wrong(field, f"must have at most {MAX_DRAFT_CHARACTERS:,}, not {len(text):,}")
    for number, sentence in enumerate(sentences, 1):
        if len(sentence) > MAX_SENTENCE_CHARACTERS or len(sentence.split()) > MAX_SENTENCE_WORDS:
            record.wrong(
                f"{field}, sentence {number}",
                f"must have at most {MAX_SENTENCE_WORDS} words and {MAX_SENTENCE_CHARACTERS:,} "
                f"characters, not {len(sentence.split())} and {len(sentence):,}",
            )
    return sentences


def _text(record: Record, field: str, value: object) -> str:
    if not isinstance(value, str):
        record.wrong(field, f"must be text, not {type(value).__name__}")
    text = _ESCAPES.sub(_unescaped, value)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        record.wrong(field, "contains half of a surrogate pair")
    return text


def _unescaped(found: re.Match[str]) -> str:
    return str(json.loads(f'"{found[0]}"'))
