"""Tables whose rows are settings of the pooled worlds: nothing is chosen among them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from record.papers.plan import NEVER, main_kind
from record.pool import Pool, cell_of
from scaar.core.errors import InvalidRequest
from scaar.evaluator.report.cells import estimated, measure_title, number, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.statistics.estimate import difference, s_eff
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.table import Floats
from scaar.lab.models import LANGUAGE_MODELS

MATCHES = ("exact_match", "f1", "precision", "recall")


@dataclass(frozen=True, slots=True)
class Row:
    """A setting of a pool, its kind of evaluation, and its label there."""

    kind: str
    label: str
    at: int


def rows_of(pool: Pool, kind: str) -> list[Row]:
    """Return the settings of a kind of evaluation, in their order.

    Raises:
        InvalidRequest: there is none.
    """
    found = [
        Row(kind, each.label.removeprefix(f"{kind} "), at)
        for at, each in enumerate(pool.table.settings)
        if each.label.startswith(f"{kind} ")
    ]
    if not found:
        raise InvalidRequest.of("results", f"must have evaluations of {kind}")
    return found


def matches_table(
    pool: Pool,
    rows: Sequence[Row],
    *,
    name: str,
    title: str,
    called: Callable[[Row], str],
) -> Table:
    """Return EM, F1, precision and recall of settings, and their searches."""
    cells = [
        (
            text(called(row)),
            *(
                cell_of(pool.of(row.at, measure))
                if measure == "f1"
                else number(pool.mean(row.at, measure))
                for measure in MATCHES
            ),
            number(pool.mean(row.at, RETRIEVALS)),
        )
        for row in rows
    ]
    columns = (
        Column("setting", "setting"),
        *(Column(each, measure_title(each), decimals=3) for each in MATCHES),
        Column(RETRIEVALS, "retrievals (N_R)", decimals=2),
    )
    return Table(name, title, columns, tuple(cells), note=_questions(pool))


def main_table(pool: Pool) -> Table:
    """Return EM and F1 of every policy at every theta, by model."""

    def cells(model: str, row: Row) -> Iterable[Cell]:
        yield number(pool.mean(row.at, "exact_match"))
        yield cell_of(pool.of(row.at, "f1"))

    return _by_model(
        pool,
        cells,
        ("EM", "F1"),
        name="main",
        title="EM and F1 of every policy, by model",
        note=f"{_questions(pool)} A theta is the threshold of flare, dragin or scaar.",
    )


def efficiency_table(pool: Pool) -> Table:
    """Return the retrievals of every policy and what each gains, by model."""

    def cells(model: str, row: Row) -> Iterable[Cell]:
        (never,) = (each for each in rows_of(pool, row.kind) if each.label == NEVER)
        yield number(pool.mean(row.at, RETRIEVALS))
        yield cell_of(efficiency(pool, row.at, never.at))

    return _by_model(
        pool,
        cells,
        ("N_R", "S_eff"),
        name="efficiency",
        title="Retrievals per question, and what a retrieval gains, by model",
        note=(
            "N_R is the mean number of retrievals per question, and S_eff is 100 times the gain in "
            f"F1 over {NEVER} per retrieval. S_eff is higher the fewer retrievals a policy makes "
            "for the questions that need them most: it does not order policies by their answers."
        ),
    )


def efficiency(pool: Pool, at: int, never: int) -> Floats:
    """Return the gain in F1 over no retrieval in points per retrieval; not a number without one."""
    return s_eff(pool.of(at, "f1"), pool.of(never, "f1"), pool.of(at, RETRIEVALS))


def compared_table(
    pool: Pool,
    pairs: Sequence[tuple[str, int, int]],
    *,
    name: str,
    title: str,
    names: tuple[str, str],
) -> Table:
    """Return EM and F1 of each row's two settings, and the difference of the second in F1."""
    rows = []
    for called, first, second in pairs:
        own, other = pool.of(first, "f1"), pool.of(second, "f1")
        rows.append(
            (
                text(called),
                *(number(pool.mean(at, "exact_match")) for at in (first, second)),
                cell_of(own),
                cell_of(other),
                estimated(difference(other - own)),
                *(number(pool.mean(at, RETRIEVALS)) for at in (first, second)),
            )
        )
    one, two = names
    columns = (
        Column("setting", "setting"),
        *(Column(f"em_{at}", f"EM, {each}", decimals=3) for at, each in enumerate(names)),
        *(Column(f"f1_{at}", f"F1, {each}", decimals=3) for at, each in enumerate(names)),
        Column("difference", f"F1, {two} minus {one}", decimals=3, signed=True),
        *(Column(f"n_r_{at}", f"N_R, {each}", decimals=2) for at, each in enumerate(names)),
    )
    note = f"{_questions(pool)} Differences are paired."
    return Table(name, title, columns, tuple(rows), note=note)


def _by_model(
    pool: Pool,
    cells: Callable[[str, Row], Iterable[Cell]],
    names: Sequence[str],
    *,
    name: str,
    title: str,
    note: str,
) -> Table:
    by_model = {
        model: {each.label: each for each in rows_of(pool, main_kind(model))}
        for model in LANGUAGE_MODELS
    }
    labels = list(dict.fromkeys(label for rows in by_model.values() for label in rows))
    rows = [
        (
            text(label),
            *(
                cell
                for model, of_model in by_model.items()
                for cell in (
                    cells(model, of_model[label])
                    if label in of_model
                    else [number(None, missing="not served")] * len(names)
                )
            ),
        )
        for label in labels
    ]
    columns = (
        Column("policy", "policy"),
        *(
            Column(f"{model}_{each}", f"{model}, {each}", decimals=_decimals(each))
            for model in LANGUAGE_MODELS
            for each in names
        ),
    )
    return Table(name, title, columns, tuple(rows), note=note)


def _decimals(name: str) -> int:
    return {"N_R": 2, "S_eff": 1}.get(name, 3)


def _questions(pool: Pool) -> str:
    return f"Means over {len(pool.table.questions)} questions; in brackets 95% intervals by entity."
