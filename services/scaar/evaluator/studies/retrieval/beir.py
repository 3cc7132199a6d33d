"""Collections in BEIR's layout.

Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval
Models", NeurIPS 2021. A folder has ``queries.jsonl`` with ``{"_id", "text"}`` and, for each split,
``qrels/SPLIT.tsv`` with the columns query-id, corpus-id and score. ``corpus.jsonl`` is read by
``scaar index build``.
"""

from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets.reader import records_of, rows_of
from scaar.evaluator.studies.retrieval.topics import Topics, topics_of, unique

COLUMNS = ("query-id", "corpus-id", "score")


def read_beir(folder: Path, split: str) -> Topics:
    """Read the judged queries of a split of a collection.

    Raises:
        InvalidRequest: a file cannot be read or has another layout; names file, record and field.
    """
    if not folder.is_dir():
        raise InvalidRequest.of("dataset", f"{folder} is not a folder in BEIR's layout")
    queries = unique(
        (record.place, record.identity("_id"), record.text("text"))
        for record in records_of(_file(folder, "queries.jsonl"))
    )
    judgements: dict[str, dict[str, int]] = {}
    for row in rows_of(_file(folder, f"qrels/{split}.tsv"), delimiter="\t", columns=COLUMNS):
        topic, passage = row.text("query-id"), row.text("corpus-id")
        judgements.setdefault(topic, {})[passage] = row.number("score")
    return topics_of(queries, judgements)


def _file(folder: Path, name: str) -> Path:
    """Return the file, or the one of that name compressed with gzip."""
    packed = folder / f"{name}.gz"
    return packed if packed.is_file() and not (folder / name).exists() else folder / name
