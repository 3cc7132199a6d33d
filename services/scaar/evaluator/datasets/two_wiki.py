"""2WikiMultihopQA: questions over two or four paragraphs of Wikipedia, made from Wikidata.

Ho et al., "Constructing A Multi-hop QA Dataset for Comprehensive Evaluation of Reasoning Steps",
COLING 2020. The official files are one JSON array in the layout of HotpotQA, with ``evidences``.
The releases from December 2020 on have ``answer_id`` and, beside them, ``id_aliases.json``: one
JSON line per entity with its aliases and demonyms, which the official script accepts as answers.
"""

from collections.abc import Iterator, Mapping

from scaar.evaluator.datasets.answers import yes_or_no_of_comparison
from scaar.evaluator.datasets.contexts import context_passages, supports_of
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.plain import is_plain, labels_of, plain_row
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record, distinct
from scaar.evaluator.records import Question

ALIASES_FILE = "id_aliases.json"

Aliases = Mapping[str, tuple[str, ...]]


def _read(source: Source) -> Iterator[Row]:
    aliases = _aliases(source)
    for record in records_of(source.file):
        if is_plain(record):
            yield plain_row(record, labels=("type",))
        else:
            yield _row(record, aliases)


def _aliases(source: Source) -> Aliases:
    """The aliases of each entity, from the named file or else from the one beside the data."""
    default = source.file.with_name(ALIASES_FILE)
    path = source.aliases or (default if default.is_file() else None)
    if path is None:
        return {}
    return {
        record.text("Q_id"): (
            *record.texts("aliases", may_be_empty=True),
            *record.texts("demonyms", may_be_empty=True),
        )
        for record in records_of(path)
    }


def _row(record: Record, aliases: Aliases) -> Row:
    if "evidences" not in record:
        record.wrong("evidences", "is missing; HotpotQA lacks this field, 2WikiMultihopQA has it")
    identity = record.text("_id")
    named = aliases.get(record.label("answer_id"), ())
    question = Question(
        id=identity,
        question=record.text("question"),
        answers=distinct(iter((record.text("answer"), *named))),
        # The first of the entities whose paragraphs the question needs.
        entity=record.label("entity_ids").split("_")[0] or identity,
        labels=labels_of(record, ("type",)),
        supports=supports_of(record),
    )
    return Row(record.place, question)


TWO_WIKI = DatasetKind(
    name="2wikimultihopqa",
    title="2WikiMultihopQA",
    layout='{"_id", "question", "answer", "supporting_facts", "context", "evidences", "type"}',
    marks=frozenset({"_id", "question", "answer", "context", "evidences"}),
    read=_read,
    exemplars="2wikimultihopqa",
    max_tokens=64,
    extract=yes_or_no_of_comparison,
    passages=context_passages,
    takes_aliases=True,
)
