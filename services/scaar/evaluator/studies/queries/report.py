"""The report of a comparison of query formulations."""

from collections.abc import Iterable, Iterator, Sequence

from scaar.evaluator.report.cells import estimated, number, score_column, text
from scaar.evaluator.report.model import Column, Report, Section, Table
from scaar.evaluator.report.provenance import counted
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.studies.queries.comparison import PER_TERMS, Difference, FormulationComparison
from scaar.evaluator.studies.queries.formulations import Exclusion
from scaar.evaluator.studies.queries.records import CUTS, MIDDLE, Retrieval
from scaar.evaluator.studies.queries.scores import (
    SEARCHES,
    TERMS,
    distinct,
    passages_read,
    per_answer,
    per_retrieval,
    recall,
)
from scaar.evaluator.studies.queries.store import QueryResults

LABEL = Column("formulation", "formulation")
_PER_TERMS = f"per {PER_TERMS} terms"
NO_PROBABILITIES = (
    "The drafts have no probabilities, so no word counts as uncertain: for pfq this measures the "
    "selection by contribution, and not the removal of uncertain words, and span_masked is the "
    "whole sentence."
)
_HOLM = "P-values are two-sided, and corrected by Holm over the rows of a column."


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
            Section("New supports", (how(results, comparison), by_answer(comparison))),
            Section("Support recall", (by_retrieval(comparison),)),
            Section(f"Compared with {reference}", tuple(beside(comparison, reference))),
            *_exclusions(results, comparison),
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
        f"conclude, as if the model were uncertain of it. {NO_PROBABILITIES} New supports are the "
        "share of a question's supporting passages that its retrievals find, each counted once. "
        "Passages are those that all retrievals of an answer read, with repeated ones. "
        "Recall counts a support in every retrieval that finds it: the share of the supporting "
        "passages among the first passages of a retrieval, averaged over the retrievals and then "
        "over the questions. Terms are the words of a retrieval's queries. "
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
    """Return the new supports of an answer and of a retrieval, and the passages and searches."""
    columns = [
        *(score_column(per_answer(cut), f"new supports per answer at {cut}") for cut in CUTS),
        score_column(per_retrieval(MIDDLE), f"per retrieval at {MIDDLE}"),
        Column(distinct(MIDDLE), f"distinct passages at {MIDDLE}", decimals=1),
        Column(passages_read(MIDDLE), f"passages at {MIDDLE}", decimals=1),
        Column(SEARCHES, "searches", decimals=1),
    ]
    found = [comparison.estimates(each.name) for each in columns]
    return _by_label(comparison, "by_answer", "New supports", columns, found)


def beside(comparison: FormulationComparison, reference: str) -> Iterator[Table]:
    """Yield the differences of the other formulations from the reference."""
    pairs = comparison.to_reference(reference)
    title = f"Paired differences from {reference}"
    yield _new_supports_differences(comparison, pairs, name="differences", title=title, note=_HOLM)
    yield differences_table(
        comparison, pairs, name="differences_by_retrieval", title=f"{title}: recall", note=_HOLM
    )


def _exclusions(results: QueryResults, comparison: FormulationComparison) -> Sequence[Section]:
    """Return the comparison of exclusion with none, and the supports that it withheld."""
    excluding = [
        each.label for each in results.evaluation.variants if each.exclusion is Exclusion.SEEN
    ]
    if not excluding:
        return ()
    tables = [_withheld(results, excluding)]
    if pairs := comparison.to_exclusions():
        title = "Paired differences of exclusion from the same formulation without"
        note = (
            f"{_HOLM} matched_depth does not exclude: each retrieval of an answer reads the "
            "smallest number of passages at which the answer reads at least as many distinct "
            "passages as with exclusion."
        )
        tables.insert(
            0,
            _new_supports_differences(comparison, pairs, name="exclusion", title=title, note=note),
        )
    return (Section("Excluding passages that the answer has read", tuple(tables)),)


def withheld_counts(retrievals: Iterable[Retrieval]) -> tuple[int, int, int]:
    """Return numbers of retrievals: all, those that withhold a support, those of them without any.

    A retrieval withholds a support if its query finds the support among the first ``MIDDLE``
    passages, but an earlier retrieval read it. Counts are at this number of passages.
    """
    readings = [each.readings[CUTS.index(MIDDLE)] for each in retrievals]
    withholding = [each for each in readings if each.withheld]
    return len(readings), len(withholding), sum(not any(x.ranks) for x in withholding)


def _withheld(results: QueryResults, labels: Sequence[str]) -> Table:
    titles = ("retrievals", "exclude a support that the query finds", "and read no other support")
    names = ("retrievals", "withhold_support", "lose_support")
    rows = []
    for label in labels:
        counts = withheld_counts(x for each in results.records for x in each.retrievals[label])
        rows.append((text(label), *(number(float(each)) for each in counts)))
    columns = [Column(*each, decimals=0) for each in zip(names, titles, strict=True)]
    note = (
        f"Number of retrievals, at {MIDDLE} passages each. A policy that drops the passages of "
        "earlier sentences writes a sentence that needs such a support again without it."
    )
    return Table("withheld", "Supports excluded", (LABEL, *columns), tuple(rows), note)


def _controls(comparison: FormulationComparison) -> Sequence[Section]:
    pairs = comparison.to_controls()
    if not pairs:
        return ()
    table = differences_table(
        comparison,
        pairs,
        name="controls",
        title="Paired differences of the scorer's own contributions from a control",
        note=_HOLM,
    )
    return (Section("Effect of the contributions", (table,)),)


Part = tuple[str, str, Sequence[Difference]]
"""The name of a column, its title, and its differences."""


def _new_supports_differences(
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


def differences_table(
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
    parts.append((f"{middle}_per_terms", f"recall at {MIDDLE} {_PER_TERMS}", spent))
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
