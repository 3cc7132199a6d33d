"""Topics: queries with judged passages, of a retrieval collection or of a data set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scaar.core.errors import InvalidRequest
from scaar.evaluator.records import Question


@dataclass(frozen=True, slots=True)
class Topic:
    """A query with the relevance of each judged passage, by its id; 0 is not relevant."""

    id: str
    query: str
    judged: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Topics:
    """The judged topics of a collection, in order; ``unjudged`` queries are left out."""

    judged: tuple[Topic, ...]
    unjudged: int = 0


def topics_of(queries: Mapping[str, str], judgements: Mapping[str, Mapping[str, int]]) -> Topics:
    """Return the queries with judgements, in their order.

    Raises:
        InvalidRequest: a judgement is of an unknown query, or no query has a judgement.
    """
    for topic in judgements:
        if topic not in queries:
            text = f"judges passages of the query {topic!r}, which is not among the queries"
            raise InvalidRequest.of("qrels", text)
    found = tuple(
        Topic(topic, query, judgements[topic])
        for topic, query in queries.items()
        if topic in judgements
    )
    if not found:
        raise InvalidRequest.of("qrels", "judges no passage of any query")
    return Topics(found, len(queries) - len(found))


def topics_of_questions(questions: Sequence[Question]) -> Topics:
    """Return the questions as queries, whose supports are the relevant passages.

    Raises:
        InvalidRequest: no question names its supports.
    """
    found = tuple(
        Topic(each.id, each.question, dict.fromkeys(each.supports, 1))
        for each in questions
        if each.supports
    )
    if not found:
        text = "needs questions that name the passages with their answers (supports)"
        raise InvalidRequest.of("dataset", text)
    return Topics(found, len(questions) - len(found))


def unique(texts: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return the texts by id, of tuples of place, id and text.

    Raises:
        InvalidRequest: an id is repeated; names the place.
    """
    found: dict[str, str] = {}
    for place, identity, text in texts:
        if identity in found:
            raise InvalidRequest.of(
                f"{place}, id", f"{identity!r} is already the id of another query"
            )
        found[identity] = text
    return found
