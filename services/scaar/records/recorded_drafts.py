"""The judged drafts of a record, with what was known before them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scaar.core.records import AnswerRecord
from scaar.core.text.questions import searched_question
from scaar.core.types import (
    AnswerDrafted,
    PassagesRetrieved,
    QuestionRewritten,
    ReadPassage,
    RetrievedPassage,
    SentenceAccepted,
    SentenceJudged,
    Token,
    TokenDrafted,
)


@dataclass(frozen=True, slots=True)
class RecordedDraft:
    """A recorded judgement with the tokens of its draft; None if they are not in the record.

    ``question``, ``accepted`` and ``read`` are what its query is made of beside the draft.
    """

    judged: SentenceJudged
    tokens: tuple[Token, ...] | None
    question: str
    accepted: tuple[str, ...]
    read: tuple[ReadPassage, ...]


def drafts_in(record: AnswerRecord) -> Iterator[RecordedDraft]:
    """Yield the judged drafts of an answer with their tokens, and what was known before them."""
    tokens: dict[int, list[Token]] = {}
    question, accepted = searched_question(record.request.last_question), list[str]()
    found, read = dict[str, RetrievedPassage](), dict[str, RetrievedPassage]()
    for event in record.events:
        match event:
            case QuestionRewritten():
                question = event.question
            case AnswerDrafted():
                # The answer is written again.
                accepted, read = [], {}
            case PassagesRetrieved():
                found.update((each.id, each) for each in event.passages)
            case TokenDrafted():
                tokens.setdefault(event.sentence, []).append(event.token)
            case SentenceJudged():
                written = _tokens_of(event, tokens.pop(event.sentence, []))
                passages = ReadPassage.newest(read.values())
                yield RecordedDraft(event, written, question, tuple(accepted), passages)
            case SentenceAccepted():
                accepted.append(event.accepted.text)
                for name in event.accepted.passage_ids:
                    if name in found:
                        read.setdefault(name, found[name])
            case _:
                pass


def _tokens_of(judged: SentenceJudged, tokens: list[Token]) -> tuple[Token, ...] | None:
    """Return the tokens with spans in the draft; None if they do not cover its words."""
    if not tokens:
        return None
    start = tokens[0].start
    moved = tuple(replace(each, start=each.start - start, end=each.end - start) for each in tokens)
    covered = max((word.end for word in judged.words), default=0)
    return moved if moved[-1].end >= covered else None
