"""Tables of paired differences between formulations."""

from collections.abc import Sequence

from scaar.evaluator.report.cells import estimated, number, score_column, text
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.statistics.estimate import Corrected
from scaar.evaluator.studies.queries.comparison import PER_TERMS, FormulationComparison
from scaar.evaluator.studies.queries.records import CUTS, MIDDLE
from scaar.evaluator.studies.queries.scores import per_answer, recall

LABEL = Column("formulation", "formulation")
PER_TERMS_TITLE = f"per {PER_TERMS} terms"
HOLM = "P-values are two-sided, and corrected by Holm over the rows of a column."

Part = tuple[str, str, Sequence[Corrected]]
"""The name of a column, its title, and its differences."""


def new_supports_differences(
    comparison: FormulationComparison,
    pairs: Sequence[tuple[str, str]],
    *,
    name: str,
    title: str,
    note: str,
) -> Table:
    """Return the differences of the new supports of an answer at every cut."""
    parts: list[Part] = [
        (column, f"new supports per answer at {cut}", comparison.differences(pairs, column))
        for cut in CUTS
        for column in [per_answer(cut)]
    ]
    return _differences(pairs, parts, name=name, title=title, note=note)


def recall_differences(
    comparison: FormulationComparison,
    pairs: Sequence[tuple[str, str]],
    *,
    name: str,
    title: str,
    note: str,
) -> Table:
    """Return the differences of recall at every cut and of recall per term."""
    parts: list[Part] = [
        (recall(cut), f"recall at {cut}", comparison.differences(pairs, recall(cut)))
        for cut in CUTS
    ]
    middle = recall(MIDDLE)
    spent = comparison.differences(pairs, middle, per_terms=True)
    parts.append((f"{middle}_per_terms", f"recall at {MIDDLE} {PER_TERMS_TITLE}", spent))
    return _differences(pairs, parts, name=name, title=title, note=note)


def _differences(
    pairs: Sequence[tuple[str, str]], parts: Sequence[Part], *, name: str, title: str, note: str
) -> Table:
    columns = [LABEL, Column("beside", "compared with")]
    for column, heading, _ in parts:
        columns += [score_column(column, heading, signed=True), score_column(f"{column}_p", "p")]
    rows = []
    for at, (label, other) in enumerate(pairs):
        cells = [text(label), text(other)]
        for _, _, found in parts:
            cells += [estimated(found[at]), number(found[at].holm, missing="undefined")]
        rows.append(tuple(cells))
    return Table(name, title, tuple(columns), tuple(rows), note)
