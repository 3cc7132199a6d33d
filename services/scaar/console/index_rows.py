"""The tables of indexes and of a sample search."""

from collections.abc import Collection, Sequence
from urllib.parse import urlencode

from scaar.console.data_tables import NOTHING, Cell, Column, DataTable, Mark, data_table
from scaar.console.number_text import bytes_text, count, time
from scaar.core.types import IndexDescription, RankedScore, RetrievedPassage, SearchResult

MAX_PASSAGE_CHARACTERS = 600
_VERSION_CHARACTERS = 12
COLUMNS = (
    Column("Index", "The name by which requests select the index. It links to a sample search."),
    Column("State", "Whether the index can be searched. A damaged index has to be built again."),
    Column("Kind", "What a search compares: words (BM25), vectors, or both."),
    Column("Modes", "The modes in which the index can be searched."),
    Column("Passages", "Number of passages.", number=True),
    Column("Size", "Size on disk.", number=True),
    Column("Version", "The start of the version, which changes with the content of the index."),
    Column("Engine", "The engine that searches the index."),
    Column("Fields", "Metadata fields that filters can name."),
    Column("Built", "Time of the build.", "UTC"),
)
_SCORES = (
    Column("Rank", "Place of the passage in the result, from 1.", number=True),
    Column("Passage", "Title, id and the start of the text."),
    Column(
        "Score",
        "The score that orders the result; higher is better. Its scale depends on the mode.",
        number=True,
    ),
)
_PARTS = {
    "words": Column(
        "BM25", "Score by words, and the rank among the candidates by words.", number=True
    ),
    "vectors": Column(
        "Vectors",
        "Similarity to the query, and the rank among the candidates by vectors.",
        number=True,
    ),
    "fused": Column("Fused", "Score and rank of the hybrid search, before reranking.", number=True),
    "rerank": Column("Reranker", "Relevance according to the cross-encoder.", number=True),
}


def index_table(indexes: Sequence[IndexDescription]) -> DataTable:
    """Return the table of the indexes."""
    return data_table("Indexes", COLUMNS, [_row(each) for each in indexes])


def passage_table(result: SearchResult) -> DataTable:
    """Return the passages of a search, with the parts of their scores that the search reports."""
    parts = [
        name
        for name in _PARTS
        if any(each.score_parts and _part(each, name) is not None for each in result.passages)
    ]
    columns = (*_SCORES, *(_PARTS[each] for each in parts))
    rows = [_passage(each, parts) for each in result.passages]
    return data_table(f"Passages of {result.index} for the query", columns, rows)


def kind_text(index: IndexDescription) -> str:
    """Return what a search of an index compares."""
    if index.dense is None:
        return f"words, BM25 (k1 {index.k1:g}, b {index.b:g})"
    vectors = f"vectors of {index.dense.encoder}, {index.dense.width} dimensions"
    search = "HNSW" if index.dense.settings.hnsw else "exact"
    both = "words and " if index.dense.settings.words else ""
    return f"{both}{vectors} ({search}, {index.dense.settings.metric.value})"


def modes_of(indexes: Collection[IndexDescription], name: str) -> tuple[str, ...]:
    """Return the modes in which an index can be searched; none if it is damaged or unknown."""
    return tuple(
        mode.value
        for each in indexes
        if each.name == name and not each.damage
        for mode in each.modes
    )


def _row(index: IndexDescription) -> tuple[Cell, ...]:
    if index.damage:
        state = Cell(index.damage, marks=(Mark("damaged", "bad"),), foreign=True)
    elif not index.passages:
        state = Cell(marks=(Mark("empty", "warn"),))
    else:
        state = Cell(marks=(Mark("ready", "good"),))
    href = "" if index.damage else f"/indexes?{urlencode({'index': index.name})}#search"
    return (
        Cell(index.name, href=href, foreign=True),
        state,
        Cell(kind_text(index)),
        Cell(", ".join(each.value for each in index.modes)),
        count(index.passages),
        Cell(bytes_text(index.size_bytes)),
        Cell(index.version[:_VERSION_CHARACTERS] or "unknown", code=True),
        Cell(index.engine),
        Cell(", ".join(index.metadata_fields) or "none", foreign=True),
        time(index.created),
    )


def _passage(passage: RetrievedPassage, parts: Sequence[str]) -> tuple[Cell, ...]:
    text = passage.text
    if len(text) > MAX_PASSAGE_CHARACTERS:
        text = f"{text[:MAX_PASSAGE_CHARACTERS]}…"
    return (
        Cell(str(passage.rank)),
        Cell(f"{passage.title}: {text}" if passage.title else text, note=passage.id, foreign=True),
        Cell(f"{passage.score:.4g}"),
        *(_score(_part(passage, each)) for each in parts),
    )


def _part(passage: RetrievedPassage, name: str) -> RankedScore | float | None:
    found: RankedScore | float | None = getattr(passage.score_parts, name, None)
    return found


def _score(part: RankedScore | float | None) -> Cell:
    if part is None:
        return NOTHING
    if isinstance(part, RankedScore):
        return Cell(f"{part.score:.4g}", note=f"rank {part.rank}")
    return Cell(f"{part:.4g}")
