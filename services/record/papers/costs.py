"""What answers cost: tokens, and the time of each part."""

from record.papers.plan import TIMED
from record.papers.settings import Row, rows_of
from record.pool import Pool, cell_of
from scaar.evaluator.report.cells import number, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.statistics.selection import RETRIEVALS

_TIMES = {
    "latency_ms": "ms",
    "generation_ms": "generation, ms",
    "scoring_ms": "scoring, ms",
    "retrieval_ms": "retrieval, ms",
}
_COUNTS = {
    RETRIEVALS: ("retrievals", 2),
    "llm_calls": ("model calls", 2),
    "generated_tokens": ("tokens written", 1),
    "prompt_tokens": ("tokens read", 1),
}
_BASE = "flare"


def overhead_table(pool: Pool) -> Table:
    """Return the time of an answer, by part and relative to flare."""
    rows = rows_of(pool, TIMED)
    (base,) = (each for each in rows if each.label == _BASE)

    def cells(row: Row) -> tuple[Cell, ...]:
        own, other = pool.of(row.at, "latency_ms"), pool.of(base.at, "latency_ms")
        ratio = own / other
        times = (number(pool.mean(row.at, name)) for name in _TIMES)
        return text(row.label), *times, cell_of(ratio), _mean(pool, row)

    columns = (
        Column("policy", "policy"),
        *(Column(name, title, decimals=1) for name, title in _TIMES.items()),
        Column("ratio", f"ms / {_BASE}'s", decimals=2),
        Column(RETRIEVALS, "retrievals", decimals=2),
    )
    return Table(
        "overhead",
        "Time of an answer, by part",
        columns,
        tuple(cells(each) for each in rows),
        note=(
            f"Means over {len(pool.table.questions)} questions, one at a time, every question with "
            "every policy in turn, without caches between answers, at the thetas that the model "
            "recommends. Parts can overlap. In brackets 95% intervals by entity of the ratio."
        ),
    )


def tokens_table(pool: Pool) -> Table:
    """Return the retrievals, model calls and tokens of an answer."""
    rows = tuple(
        (
            text(each.label),
            *(number(pool.mean(each.at, name)) for name in _COUNTS),
        )
        for each in rows_of(pool, TIMED)
    )
    columns = (
        Column("policy", "policy"),
        *(Column(name, title, decimals) for name, (title, decimals) in _COUNTS.items()),
    )
    return Table(
        "tokens",
        "Retrievals, model calls and tokens of an answer",
        columns,
        rows,
        note=(
            f"Means over {len(pool.table.questions)} questions. Tokens written include those that "
            "the model writes while a draft is judged."
        ),
    )


def _mean(pool: Pool, row: Row) -> Cell:
    return number(pool.mean(row.at, RETRIEVALS))
