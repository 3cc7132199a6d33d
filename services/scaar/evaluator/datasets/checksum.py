"""The checksum by which two sets of questions are compared."""

import hashlib
from collections.abc import Sequence

from scaar.evaluator.records import Question
from scaar.evaluator.store.record_json import RecordJson

_QUESTION = RecordJson(Question)


def checksum_of(questions: Sequence[Question]) -> str:
    """Return the SHA-256 of the questions with all their fields."""
    digest = hashlib.sha256()
    for question in questions:
        digest.update(_QUESTION.line(question))
    return digest.hexdigest()
