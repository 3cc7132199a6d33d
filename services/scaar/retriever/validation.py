"""What passages, names and requests must be like, checked before any work."""

import re
from collections.abc import Iterator, Sequence

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.filters import wrong_filters
from scaar.core.types import Passage, RetrieveRequest
from scaar.retriever.metadata import undeclared, wrong_metadata

MAX_ID_CHARACTERS = 512
MAX_TITLE_CHARACTERS = 4_096
MAX_TEXT_CHARACTERS = 1_048_576
MAX_QUERY_CHARACTERS = 32_768
MAX_TOP_K = 100
MAX_QUERIES = 1_000
MAX_CHARACTERS_OF_QUERIES = 1_048_576

_INDEX_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BREAKS = re.compile(r"[\t\n\r]")
_HALF_PAIR = re.compile(r"[\ud800-\udfff]")


def check_index_name(name: str) -> None:
    """Passes a name that is safe as a folder's.

    Raises:
        InvalidRequest: the name is none.
    """
    if not is_index_name(name):
        rule = "must be 1 to 64 of a-z, 0-9, '.', '_' and '-', a letter or digit first"
        raise InvalidRequest.of("index", f"{rule}, not {name[:80]!r}")


def is_index_name(name: str) -> bool:
    """Whether an index may be called so."""
    return _INDEX_NAME.fullmatch(name) is not None


def check_request(request: RetrieveRequest) -> None:
    """Passes a request that can be run.

    Raises:
        InvalidRequest: naming every wrong field and its limit.
    """
    wrong = list(_wrong_queries(request.queries))
    if not 1 <= request.top_k <= MAX_TOP_K:
        wrong.append(Violation("top_k", f"must be 1 to {MAX_TOP_K}, not {request.top_k}"))
    wrong += wrong_filters(request.filters)
    if wrong:
        raise InvalidRequest(wrong)
    check_index_name(request.index)


def wrong_fields(passage: Passage) -> list[Violation]:
    """What is wrong with a passage, by field."""
    wrong = [
        *_wrong_text("id", passage.id, MAX_ID_CHARACTERS),
        *_wrong_text("title", passage.title, MAX_TITLE_CHARACTERS, may_be_empty=True),
        *_wrong_text("text", passage.text, MAX_TEXT_CHARACTERS),
        *wrong_metadata(passage.metadata),
    ]
    if not wrong and _BREAKS.search(passage.id):
        wrong.append(Violation("id", "must be on one line, without tabs"))
    return wrong


class PassageIds:
    """Passes passages that are right, and whose ids were not seen before.

    ``declared`` are the fields that they may carry.
    """

    def __init__(self, declared: Sequence[str] = ()) -> None:
        self._declared = declared
        self.positions: dict[str, int] = {}
        """The ids passed, and the place of each among them, from 0."""

    def check(self, passage: Passage) -> None:
        """Passes a passage.

        Raises:
            InvalidRequest: it is none, or has an id seen before; by its position.
        """
        position = len(self.positions)
        wrong = wrong_fields(passage)
        if not wrong:
            wrong = [*undeclared(passage.id, passage.metadata, self._declared)]
        first = self.positions.setdefault(passage.id, position)
        if first != position and not wrong:
            wrong = [Violation("id", f"{passage.id!r} is the id of passages[{first}] already")]
        if wrong:
            raise InvalidRequest(
                [
                    Violation(f"passages[{position}].{each.field}", each.description)
                    for each in wrong
                ]
            )


def _wrong_text(
    field: str, text: str, most: int, *, may_be_empty: bool = False
) -> Iterator[Violation]:
    if not may_be_empty and not text.strip():
        yield Violation(field, "must not be empty")
    elif len(text) > most:
        yield Violation(field, f"must have at most {most:,} characters, not {len(text):,}")
    elif found := _CONTROL.search(text):
        code = f"U+{ord(found[0]):04X}"
        yield Violation(field, f"holds the control character {code} at {found.start()}")
    elif found := _HALF_PAIR.search(text):
        code = f"U+{ord(found[0]):04X}"
        yield Violation(field, f"holds half a surrogate pair, {code}, at {found.start()}")


def _wrong_queries(queries: tuple[str, ...]) -> Iterator[Violation]:
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
