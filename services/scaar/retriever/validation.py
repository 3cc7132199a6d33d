"""Validation of passages, index names and requests, before any work."""

import re
from collections.abc import Iterator, Sequence

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.filters import MAX_ID_CHARACTERS, wrong_excluded, wrong_filters, wrong_scored
from scaar.core.search_stages import wrong_stages
from scaar.core.types import Passage, RetrieveRequest
from scaar.core.types.retrieval import MAX_QUERY_CHARACTERS
from scaar.core.validation import check_index_name
from scaar.retriever.metadata import metadata_violations, undeclared_fields

MAX_TITLE_CHARACTERS = 4_096
MAX_TEXT_CHARACTERS = 1_048_576
MAX_TOP_K = 100
MAX_QUERIES = 1_000
MAX_CHARACTERS_OF_QUERIES = 1_048_576

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BREAKS = re.compile(r"[\t\n\r]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def check_request(request: RetrieveRequest) -> None:
    """Validate a retrieve request.

    Raises:
        InvalidRequest: naming every invalid field and its limit.
    """
    wrong = list(_query_violations(request.queries))
    if not 1 <= request.top_k <= MAX_TOP_K:
        wrong.append(Violation("top_k", f"must be 1 to {MAX_TOP_K}, not {request.top_k}"))
    wrong += wrong_filters(request.filters)
    wrong += wrong_excluded(request.excluded_ids)
    wrong += wrong_scored(request.queries, score_all=request.score_all)
    wrong += wrong_stages(request)
    if wrong:
        raise InvalidRequest(wrong)
    check_index_name(request.index)


def passage_violations(passage: Passage) -> list[Violation]:
    """Return the violations of a passage, by field."""
    wrong = [
        *_text_violations("id", passage.id, MAX_ID_CHARACTERS),
        *_text_violations("title", passage.title, MAX_TITLE_CHARACTERS, may_be_empty=True),
        *_text_violations("text", passage.text, MAX_TEXT_CHARACTERS),
        *metadata_violations(passage.metadata),
    ]
    if not wrong and _BREAKS.search(passage.id):
        wrong.append(Violation("id", "must be on one line, without tabs"))
    return wrong


def without_control_characters(text: str) -> str:
    """Return a title or a text with spaces in place of the characters that are not valid there."""
    return _CONTROL.sub(" ", text)


class PassageValidator:
    """Validates the passages of a build, whose ids must be unique.

    ``declared`` are the metadata fields that passages may have.
    """

    def __init__(self, declared: Sequence[str] = ()) -> None:
        self._declared = declared
        self.positions: dict[str, int] = {}
        """The position of each validated id, from 0."""

    def check(self, passage: Passage) -> None:
        """Validate the next passage.

        Raises:
            InvalidRequest: the passage is invalid or repeats an id; the error names its position.
        """
        position = len(self.positions)
        wrong = passage_violations(passage)
        if not wrong:
            wrong = [*undeclared_fields(passage.id, passage.metadata, self._declared)]
        first = self.positions.setdefault(passage.id, position)
        if first != position and not wrong:
            wrong = [Violation("id", f"{passage.id!r} is already the id of passages[{first}]")]
        if wrong:
            raise InvalidRequest(
                [
                    Violation(f"passages[{position}].{each.field}", each.description)
                    for each in wrong
                ]
            )


def _text_violations(
    field: str, text: str, maximum: int, *, may_be_empty: bool = False
) -> Iterator[Violation]:
    if not may_be_empty and not text.strip():
        yield Violation(field, "must not be empty")
    elif len(text) > maximum:
        yield Violation(field, f"must have at most {maximum:,} characters, not {len(text):,}")
    elif found := _CONTROL.search(text):
        code = f"U+{ord(found[0]):04X}"
        yield Violation(field, f"contains the control character {code} at {found.start()}")
    elif found := _SURROGATE.search(text):
        code = f"U+{ord(found[0]):04X}"
        yield Violation(field, f"contains the unpaired surrogate {code} at {found.start()}")


def _query_violations(queries: tuple[str, ...]) -> Iterator[Violation]:
    if len(queries) > MAX_QUERIES:
        yield Violation("queries", f"must be at most {MAX_QUERIES:,}, not {len(queries):,}")
        return
    if (characters := sum(map(len, queries))) > MAX_CHARACTERS_OF_QUERIES:
        limit = f"must have at most {MAX_CHARACTERS_OF_QUERIES:,} characters together"
        yield Violation("queries", f"{limit}, not {characters:,}")
        return
    for position, query in enumerate(queries):
        field = f"queries[{position}]"
        if not query.strip():
            yield Violation(field, "must not be empty")
        elif len(query) > MAX_QUERY_CHARACTERS:
            limit = f"must have at most {MAX_QUERY_CHARACTERS:,} characters, not {len(query):,}"
            yield Violation(field, limit)
