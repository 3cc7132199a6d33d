"""The report of a comparison of query formulations."""

from collections.abc import Sequence

from scaar.evaluator.report.cells import estimated, number, score_column, text
from scaar.evaluator.report.model import Column, Report, Section, Table
from scaar.evaluator.report.provenance import counted
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.studies.queries.comparison import PER_TERMS, Difference, FormulationComparison
from scaar.evaluator.studies.queries.records import CUTS
from scaar.evaluator.studies.queries.scores import TERMS, recall, together
from scaar.evaluator.studies.queries.store import QueryResults

LABEL = Column("formulation", "formulation")
MIDDLE = CUTS[1]
_PER_TERMS = f"per {PER_TERMS} terms"
NO_PROBABILITIES = (
    "The drafts have no probabilities, so no word counts as uncertain: for pfq this measures the "
    "selection by contribution, and not the removal of uncertain words."
)


def compose(results: QueryResults, comparison: FormulationComparison, *, reference: str) -> Report:
    """Return the report; sections without content are left out."""
    dataset, count = results.evaluation.dataset, len(comparison.table.questions)
    return Report(
        title=f"Query formulations on {dataset.name}",
        subtitle=(
            f"{count:,} questions, {len(comparison.labels)} formulations, started "
            f"{results.evaluation.created}, scaar {results.evaluation.scaar}"
        ),
        sections=(
            Section("Support recall", (how(results, comparison), by_retrieval(comparison))),
            Section("All retrievals of an answer", (by_answer(comparison),)),
            Section(f"Compared with {reference}", (beside(comparison, reference),)),
            *_controls(comparison),
            Section("Provenance", (made_by(results, comparison),)),
        ),
    )


def how(results: QueryResults, comparison: FormulationComparison) -> str:
    """Describe the measurement in plain words."""
    concluding = len(results.records) - len(comparison.table.questions)
    left_out = (
        f" {concluding} whose draft is a conclusion alone are left out." if concluding else ""
    )
    if refused := {(question, each.sentence) for question, each in results.refused}:
        left_out += (
            f" A scorer refused {counted(len(refused), 'sentence')}, for which pfq finds nothing."
        )
    return (
        "Each formulation makes one retrieval for every sentence of a draft that does not "
        f"conclude, as if the model were uncertain of it. {NO_PROBABILITIES} Recall is the share "
        "of a question's supporting passages among the first passages of a retrieval, averaged "
        "over its retrievals and then over the questions. Terms are the words of a query. "
        f"Intervals are 95% intervals from {comparison.resamples:,} bootstrap samples of whole "
        "entities."
        f"{left_out}"
    )


def by_retrieval(comparison: FormulationComparison) -> Table:
    """Return recall at every cut, the terms, and recall per term."""
    columns = [
        *(score_column(recall(cut), f"recall at {cut}") for cut in CUTS),
        Column(TERMS, "terms", decimals=1),
        score_column(f"{recall(MIDDLE)}_per_terms", f"recall at {MIDDLE} {_PER_TERMS}"),
    ]
    found = [
        *(comparison.estimates(recall(cut)) for cut in CUTS),
        comparison.estimates(TERMS),
        comparison.per_terms(recall(MIDDLE)),
    ]
    return _by_label(comparison, "by_retrieval", "Recall of a retrieval", columns, found)


def by_answer(comparison: FormulationComparison) -> Table:
    """Return the recall of all retrievals of a question together."""
    columns = [score_column(together(cut), f"recall at {cut} each") for cut in CUTS]
    found = [comparison.estimates(together(cut)) for cut in CUTS]
    return _by_label(comparison, "by_answer", "Recall of all retrievals together", columns, found)


def beside(comparison: FormulationComparison, reference: str) -> Table:
    """Return the differences of the other formulations from the reference."""
    return differences_table(
        comparison,
        comparison.to_reference(reference),
        name="differences",
        title=f"Paired differences from {reference}",
        note="P-values are two-sided, and corrected by Holm over the rows of a column.",
    )


def _controls(comparison: FormulationComparison) -> Sequence[Section]:
    pairs = comparison.to_controls()
    if not pairs:
        return ()
    table = differences_table(
        comparison,
        pairs,
        name="controls",
        title="Paired differences of the scorer's own contributions from a control",
        note="P-values are two-sided, and corrected by Holm over the rows of a column.",
    )
    return (Section("Effect of the contributions", (table,)),)


def differences_table(
    comparison: FormulationComparison,
    pairs: Sequence[tuple[str, str]],
    *,
    name: str,
    title: str,
    note: str,
) -> Table:
    """Return the differences of recall at every cut and of recall per term."""
    parts: list[tuple[str, str, Sequence[Difference]]] = [
        (recall(cut), f"recall at {cut}", comparison.differences(pairs, recall(cut)))
        for cut in CUTS
    ]
    middle = recall(MIDDLE)
    spent = comparison.differences(pairs, middle, per_terms=True)
    parts.append((f"{middle}_per_terms", f"recall at {MIDDLE} {_PER_TERMS}", spent))
    columns = [LABEL, Column("beside", "compared with")]
    for column, heading, _ in parts:
        columns += [score_column(column, heading, signed=True), score_column(f"{column}_p", "p")]
    rows = []
    for at, (label, other) in enumerate(pairs):
        cells = [text(label), text(other)]
        for _, _, found in parts:
            cells += [estimated(found[at].found), number(found[at].holm, missing="undefined")]
        rows.append(tuple(cells))
    return Table(name, title, tuple(columns), tuple(rows), note)


def made_by(results: QueryResults, comparison: FormulationComparison) -> Table:
    """Return data, scorers, index and seeds."""
    evaluation = results.evaluation
    dataset, drafts = evaluation.dataset, evaluation.drafts
    facts = [
        ("scaar", evaluation.scaar),
        ("started", evaluation.created),
        ("data set", f"{dataset.name} {dataset.path}".strip()),
        ("questions", f"{dataset.questions} (seed {dataset.seed})"),
        ("questions' SHA-256", dataset.checksum),
        ("drafts", f"{drafts.path}, field {drafts.field}"),
        ("drafts' SHA-256", drafts.sha256),
        *(
            (f"scorer {name}", f"{each.model} {each.revision} ({each.engine})")
            for name, each in evaluation.scorers.items()
        ),
        ("index", f"{evaluation.index} {evaluation.index_version}"),
        ("passages", f"{evaluation.passages:,}"),
        ("bootstrap", f"{comparison.resamples:,} samples, seed {dataset.seed}"),
    ]
    rows = tuple((text(name), text(value)) for name, value in facts)
    columns = (Column("what", "item"), Column("value", "value"))
    return Table("made_by", "Data, scorers and seeds", columns, rows)


def _by_label(
    comparison: FormulationComparison,
    name: str,
    title: str,
    columns: Sequence[Column],
    found: Sequence[Sequence[Estimate]],
) -> Table:
    rows = [
        (text(label), *(estimated(each[at]) for each in found))
        for at, label in enumerate(comparison.labels)
    ]
    return Table(name, title, (LABEL, *columns), tuple(rows))
