"""The report of a comparison of query formulations, and its files, written atomically."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from scaar.core.errors import ScaarError
from scaar.core.plurals import counted
from scaar.evaluator.report.cells import estimated, score_column, text
from scaar.evaluator.report.files import short_files
from scaar.evaluator.report.model import Column, Report, Section, Table
from scaar.evaluator.statistics import RESAMPLES
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.store.files import write_texts
from scaar.evaluator.store.studies import lines_of
from scaar.evaluator.studies.queries.comparison import FormulationComparison
from scaar.evaluator.studies.queries.differences import (
    HOLM,
    LABEL,
    PER_TERMS_TITLE,
    new_supports_differences,
    recall_differences,
)
from scaar.evaluator.studies.queries.exclusion import exclusion_sections
from scaar.evaluator.studies.queries.formulations import reference_of
from scaar.evaluator.studies.queries.records import CUTS, MIDDLE
from scaar.evaluator.studies.queries.scores import (
    SEARCHES,
    TERMS,
    distinct,
    passages_read,
    per_answer,
    per_retrieval,
    recall,
    table_of,
)
from scaar.evaluator.studies.queries.store import RETRIEVALS, QueryResults

NO_PROBABILITIES = (
    "The drafts have no probabilities, so no word counts as uncertain: for pfq this measures the "
    "selection by contribution, and not the removal of uncertain words, and span_masked is the "
    "whole sentence."
)


def compose(results: QueryResults, comparison: FormulationComparison, *, reference: str) -> Report:
    """Return the report; sections without content are left out."""
    dataset, count = results.evaluation.dataset, len(comparison.table.questions)
    return Report(
        title=f"Query formulations on {dataset.name}",
        subtitle=(
            f"{counted(count, 'question')}, {counted(len(comparison.labels), 'formulation')}, "
            f"started {results.evaluation.created}, scaar {results.evaluation.scaar}"
        ),
        sections=(
            Section("New supports", (how(results, comparison), by_answer(comparison))),
            Section("Support recall", (by_retrieval(comparison),)),
            Section(f"Compared with {reference}", tuple(beside(comparison, reference))),
            *exclusion_sections(results, comparison),
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
        score_column(f"{recall(MIDDLE)}_per_terms", f"recall at {MIDDLE} {PER_TERMS_TITLE}"),
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
    yield new_supports_differences(comparison, pairs, name="differences", title=title, note=HOLM)
    yield recall_differences(
        comparison, pairs, name="differences_by_retrieval", title=f"{title}: recall", note=HOLM
    )


def _controls(comparison: FormulationComparison) -> Sequence[Section]:
    pairs = comparison.to_controls()
    if not pairs:
        return ()
    table = recall_differences(
        comparison,
        pairs,
        name="controls",
        title="Paired differences of the scorer's own contributions from a control",
        note=HOLM,
    )
    return (Section("Effect of the contributions", (table,)),)


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


def write_query_report(
    results: QueryResults,
    out: Path,
    *,
    reference: str | None = None,
    resamples: int = RESAMPLES,
) -> Report:
    """Write report.md, report.json, tables/*.csv and retrievals.jsonl.

    The same results give the same bytes. ``retrievals.jsonl`` has a line for each question.

    Raises:
        InvalidRequest: the reference is unknown.
        ScaarError: there is no retrieval, or a file cannot be written.
    """
    if not any(any(each.retrievals.values()) for each in results.records):
        raise ScaarError(f"{out} contains no retrieval yet")
    comparison = FormulationComparison(results.evaluation, table_of(results), resamples=resamples)
    report = compose(
        results, comparison, reference=reference_of(results.evaluation.variants, reference)
    )
    retrievals = lines_of(RETRIEVALS, results.records).decode()
    write_texts(out, {**short_files(report), "retrievals.jsonl": retrievals})
    return report
