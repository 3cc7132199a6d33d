"""Topics, judgements and runs in the formats of TREC.

Topics are lines of an id and a query separated by a tab, or the tagged format of the ad hoc tracks:
``<top>``, ``<num>``, ``<title>``. Judgements (qrels) are lines ``TOPIC 0 PASSAGE RELEVANCE``, runs
are lines ``TOPIC Q0 PASSAGE RANK SCORE TAG``, both separated by white space.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.core.prompts.untrusted import one_line
from scaar.evaluator.datasets.reader import text_of
from scaar.evaluator.datasets.records import Record
from scaar.evaluator.studies.retrieval.topics import Topics, topics_of, unique

_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"<(num|title)>(.*?)(?=<|$)", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(r"\s*(?:Number|Topic)\s*:", re.IGNORECASE)
_QRELS_COLUMNS = 4


def read_trec(topics: Path, qrels: Path) -> Topics:
    """Read the judged topics of two files.

    Raises:
        InvalidRequest: a file cannot be read or has another layout; names file and line.
    """
    text = text_of(topics)
    read = _tagged if "<top>" in text.lower() else _lines
    return topics_of(unique(read(topics, text)), _judgements(qrels))


def _lines(path: Path, text: str) -> Iterator[tuple[str, str, str]]:
    for number, line in _numbered(text):
        place = f"{path.name} line {number}"
        identity, tab, query = line.partition("\t")
        if not tab or not identity.strip() or not one_line(query):
            raise InvalidRequest.of(place, "must be an id and a query, separated by a tab")
        yield place, identity.strip(), one_line(query)


def _tagged(path: Path, text: str) -> Iterator[tuple[str, str, str]]:
    for number, found in enumerate(_TOPIC.finditer(text), 1):
        fields = {
            name.lower(): one_line(_HEADING.sub("", content, count=1))
            for name, content in _FIELD.findall(found[1])
        }
        record = Record(f"{path.name} topic {number}", fields)
        yield record.place, record.text("num"), record.text("title")


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for number, line in _numbered(text_of(path)):
        columns = line.split()
        place = f"{path.name} line {number}"
        if len(columns) != _QRELS_COLUMNS:
            text = f"must be TOPIC 0 PASSAGE RELEVANCE, not {len(columns)} columns"
            raise InvalidRequest.of(place, text)
        topic, _, passage, relevance = columns
        try:
            # Some collections judge spam as -2; trec_eval counts it as not relevant.
            found.setdefault(topic, {})[passage] = max(0, int(relevance))
        except ValueError as error:
            text = f"must be a whole number, not {relevance[:60]!r}"
            raise InvalidRequest.of(f"{place}, relevance", text) from error
    return found


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _token(text: str) -> str:
    """Return a text as a column: white space and percent signs are escaped."""
    return re.sub(r"[\s%]", lambda found: f"%{ord(found[0]):02X}", text)


def run_lines(topic: str, passages: Iterable[str], tag: str) -> Iterator[str]:
    """Yield the lines of a topic's ranking, best passage first; scores fall with the rank."""
    for rank, passage in enumerate(passages, 1):
        yield f"{_token(topic)} Q0 {_token(passage)} {rank} {1 / rank:.6g} {_token(tag)}\n"


def qrels_lines(topic: str, passages: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the relevant passages of a topic."""
    for passage in passages:
        yield f"{_token(topic)} 0 {_token(passage)} 1\n"
